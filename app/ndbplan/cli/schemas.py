"""JSON Schemas: of the plan file, and of what the commands print with --json."""

from __future__ import annotations

from typing import Any

from ndbplan.base.resources import read_json

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def plan_schema() -> dict[str, Any]:
    """The schema of `*.ndbplan`; the shapes of the commands are among its definitions, as `output-NAME`."""
    from ndbplan.plan.plan import FORMAT_VERSION, Plan

    schema = Plan.model_json_schema(mode="validation")
    schema["properties"]["format_version"] = {"const": FORMAT_VERSION}
    schema["required"] = ["format_version"]
    shapes = read_json("schema/outputs.json")["$defs"]
    return {
        "$schema": _DIALECT,
        "title": "ndbplan plan file",
        **{key: value for key, value in schema.items() if key not in ("title", "$defs")},
        "$defs": {**schema["$defs"], **shapes},
    }


def output_schemas() -> tuple[str, ...]:
    """The commands whose JSON has a schema."""
    prefix = "output-"
    names = read_json("schema/outputs.json")["$defs"]
    return tuple(name.removeprefix(prefix) for name in names if name.startswith(prefix))


def output_schema(command: str) -> dict[str, Any]:
    """The schema of what `ndbplan COMMAND --json` prints. KeyError for a command without one."""
    shapes = read_json("schema/outputs.json")["$defs"]
    return {
        "$schema": _DIALECT,
        "title": f"ndbplan {command} --json",
        **shapes[f"output-{command}"],
        "$defs": {name: shape for name, shape in shapes.items() if not name.startswith("output-")},
    }
