"""JSON Schemas: of the plan file, and of what the commands print with --json."""

from __future__ import annotations

from typing import Any

from ndbplan.cli.outputs import PREFIX, definitions

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def plan_schema() -> dict[str, Any]:
    """The schema of `*.ndbplan`; the shapes of the commands are among its definitions, as `output-NAME`."""
    from ndbplan.plan.plan import FORMAT_VERSION, Plan
    from ndbplan.plan.project_json import StatedVariants

    schema = Plan.model_json_schema(mode="validation")
    stated = StatedVariants.model_json_schema(mode="validation")
    changes = stated["$defs"]["StatedVariant"]["properties"]["changes"]
    own_fields = [name for name in schema["properties"] if name != "format_version"]
    changes["propertyNames"] = {"enum": own_fields}
    schema["properties"] |= {"format_version": {"const": FORMAT_VERSION}, **stated["properties"]}
    schema["required"] = ["format_version"]
    return {
        "$schema": _DIALECT,
        "title": "ndbplan plan file",
        **{key: value for key, value in schema.items() if key not in ("title", "$defs")},
        "$defs": {**schema["$defs"], **stated["$defs"], **definitions()},
    }


def requirements_schema() -> dict[str, Any]:
    """The schema of the requirements that `size` reads."""
    from ndbplan.plan.requirements import Requirements

    schema = Requirements.model_json_schema(mode="validation")
    return {"$schema": _DIALECT, **schema, "title": "ndbplan requirements"}


def output_schemas() -> tuple[str, ...]:
    """The commands whose JSON has a schema."""
    return tuple(name.removeprefix(PREFIX) for name in definitions() if name.startswith(PREFIX))


def output_schema(command: str) -> dict[str, Any]:
    """The schema of what `ndbplan COMMAND --json` prints. KeyError for a command without one."""
    shapes = definitions()
    return {
        "$schema": _DIALECT,
        "title": f"ndbplan {command} --json",
        **shapes[PREFIX + command],
        "$defs": {name: shape for name, shape in shapes.items() if not name.startswith(PREFIX)},
    }
