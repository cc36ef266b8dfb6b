"""What commands print for people has no name that only the program and its files have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from cli.conftest import Call
from ndbplan.cli.schemas import output_schema, output_schemas
from ndbplan.edits.ids import is_made
from ndbplan.plan.file import save
from ndbplan.plan.hardware import DiskKind
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

QUICK = (
    "check", "fix --dry-run", "distribute", "estimate --months 12", "restart --kind node",
    "restart --kind rolling", "reorg --add-groups 1", "backup", "procedure", "diff", "cost", "tighten",
    "parameters", "variants", "survive", "what-matters --aim memory --top 5",
    "what-matters --aim disk-space --top 5", "compare --no-simulation",
)  # fmt: skip
SLOW = (
    "simulate --for 20s", "simulate --for 5s --runs 2", "max-load --for 60s", "remedies --for 60s",
    "what-matters --aim first-error --top 3", "size",
    "sweep --vary RedoBuffer=32M,64M --measure restart,survive --workers 1",
)  # fmt: skip
_ADDRESS = re.compile(r"[\w.\[\]*/-]*(?:\.|\[)[\w.\[\]*]*|\S+=\S*|-o \S+|--\w\S*")
"""Where people type names of fields: `hosts[*].cores`, `backups_kept=2`."""
_PYTHON = re.compile(
    r"\b(?:None|True|False|nan|inf)\b|<[\w.]+ object|\b[A-Z][a-z]+[A-Za-z]*\(|\b[A-Z][a-z]\w+\.[A-Z_]+\b"
)


def _fields() -> Iterator[str]:
    """Names of fields of the plan file, and keys of what commands print with --json."""
    classes: list[type[BaseModel]] = [Plan]
    seen = set()
    while classes:
        one = classes.pop()
        if one not in seen:
            seen.add(one)
            for name, field in one.model_fields.items():
                yield name
                classes += _parts_of(field.annotation)
    for command in output_schemas():
        yield from _keys(output_schema(command))


def _parts_of(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for inner in get_args(annotation) for part in _parts_of(inner)]


def _keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from _keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _keys(value)


NAMES = frozenset(name for name in _fields() if "_" in name)


def raw_words(text: str) -> Iterator[str]:
    """Lines with a name of the program, and what it is."""
    for line in text.splitlines():
        if "ndbplan set PLAN" in line or "ndbplan add PLAN" in line:
            continue
        bare = _ADDRESS.sub(" ", line)
        found = [word for word in re.findall(r"\w+", bare) if word in NAMES] + _PYTHON.findall(line)
        if found:
            yield f"{found}: {line[:200]}"


def _other(plan: Plan) -> Plan:
    """The plan with much else: hardware, tables, parameters, loads; some of it is stated now, or assumed."""
    slower: dict[str, Any] = {"assumed": (), "kind": DiskKind.HDD}
    hosts = tuple(
        host.model_copy(update={
            "cores": host.cores + 4,
            "assumed": ("clock_ghz",),
            "disks": tuple(one.model_copy(update=slower) for one in host.disks),
        })
        for host in plan.hosts
    )  # fmt: skip
    tables = tuple(
        table.model_copy(update={
            "rows": table.rows * 2, "assumed": (), "read_backup": not table.read_backup,
            "columns": tuple(c.model_copy(update={"null_fraction": 0.5}) for c in table.columns),
        })
        for table in plan.tables
    )  # fmt: skip
    return Plan.model_validate_json(
        plan.replace(
            hosts=hosts, tables=tables, backups_kept=2, workloads=plan.workloads[:1]
        ).model_dump_json()
    )


_STEMS = {"LogfileGroup": "logfile_group"}


def _with_strange_ids(plan: Plan) -> Plan:
    """The plan with ids such as the program makes, which name nothing: `host_907`."""
    document = json.loads(plan.model_dump_json())
    ids = {}
    for n, (id_, part) in enumerate(plan.by_id.items(), 900):
        made = f"{_STEMS.get(type(part).__name__, type(part).__name__.lower())}_{n}"
        ids[id_] = made if is_made(made) else id_

    def renamed(value: Any, is_id: bool) -> Any:
        if isinstance(value, dict):
            return {
                key: renamed(
                    one, is_id or key == "id" or key.endswith(("_id", "_ids")) or key == "disk_roles"
                )
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [renamed(one, is_id) for one in value]
        return ids.get(value, value) if is_id and isinstance(value, str) else value

    return Plan.model_validate(renamed(document, is_id=False))


@pytest.mark.parametrize("name", ["add-nodes-8.4", "disk-data-8.4"])
def test_no_command_tells_people_an_id(name: str, call: Call, saved: Any, tmp_path: Path) -> None:
    """Ids of samples read like names; those of plans that people made do not: `host_4`."""
    path, other = saved(_with_strange_ids(sample_plan(name))), tmp_path / "other.ndbplan"
    save(_other(_with_strange_ids(sample_plan(name))), other)
    asked = [*QUICK, *(SLOW if name == "add-nodes-8.4" else ())]
    found = []
    for words in (*asked, "set hosts[*].cores=7", "diff"):
        command, *options = words.split()
        plans = [path, other] if command in ("compare", "diff") else [path]
        more = ["-o", tmp_path / "sweep"] if command == "sweep" else []
        done = call(command, *plans, *options, *more)
        for line in (done.out + done.err).splitlines():
            if "ndbplan set PLAN" not in line and re.search(r"\b[a-z_]+_9\d\d\b", line):
                found.append(f"{words}: {line[:200]}")
    assert not found, "\n".join(found)


def test_a_line_with_raw_names_is_found() -> None:
    assert list(raw_words("Assumed of host a: clock_ghz, cores"))
    assert list(raw_words("array: None"))
    assert list(raw_words("Kind: DiskKind.HDD"))
    assert not list(raw_words("hosts[host-a1].clock_ghz: 2.8 → 3, backups_kept=2, -o some_file"))


@pytest.mark.parametrize("name", ["starter", "redo-overload", "disk-data", "measured-7.4.10"])
def test_no_command_tells_people_names_of_the_program(
    name: str, call: Call, saved: Any, tmp_path: Path
) -> None:
    path, other = saved(name), tmp_path / "other.ndbplan"
    save(_other(sample_plan(name)), other)
    elsewhere = saved("disk-data-8.4") if name != "disk-data-8.4" else saved("starter")
    asked = [*QUICK, *(SLOW if name == "redo-overload" else ())]
    found = []
    for words in asked:
        command, *options = words.split()
        plans = [path, other, elsewhere] if command == "compare" else [path]
        more = ["-o", tmp_path / "sweep"] if command == "sweep" else []
        done = call(command, *plans, *options, *more)
        assert done.code in (0, 1, 2), (words, done.err)
        found += [f"{words}: {line}" for line in raw_words(done.out + done.err)]
    assert not found, "\n".join(found)
