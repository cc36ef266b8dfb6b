"""Who set a value lies in the plan file, and survives it."""

from __future__ import annotations

import json

import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.file import PlanFileError, dumps, loads
from ndbplan.plan.origins import SetByImport, SetByProgram, file_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


def _with_origins() -> Plan:
    plan = sample_plan("starter")
    node = plan.data_nodes[0].id
    by_file = SetByImport(file="config.ini", line=7)
    plan = set_parameter(plan, "data_node", "RedoBuffer", 2**26, by_file)
    decided = SetByProgram(rule="direct-io", reason="Large checkpoints go through the file cache")
    plan = set_parameter(plan, "data_node", "RedoBuffer", 2**27, decided)
    return set_parameter(plan, node, "ODirect", 1, decided)


def test_a_plan_file_keeps_who_set_a_value() -> None:
    plan = _with_origins()
    again = loads(dumps(plan))
    assert again == plan
    assert again.origins.data_node["RedoBuffer"] == SetByProgram(
        rule="direct-io",
        reason="Large checkpoints go through the file cache",
        instead=2**26,
        imported=SetByImport(file="config.ini", line=7),
    )


def test_a_plan_without_origins_is_written_as_before_there_were_any() -> None:
    assert "origins" not in dumps(sample_plan("starter"))


@pytest.mark.parametrize(
    "origin",
    [
        {"by": "import", "file": "a\nDataMemory=1", "line": 1},
        {"by": "import", "file": "", "line": 1},
        {"by": "import", "file": "a", "line": 0},
        {"by": "program", "rule": "a]\n", "reason": "x"},
        {"by": "program", "rule": "a", "reason": "x\ny"},
        {"by": "someone", "file": "a", "line": 1},
    ],
)
def test_an_origin_that_no_export_could_show_is_refused(origin: dict[str, object]) -> None:
    document = {"format_version": 2, "origins": {"data_node": {"DataMemory": origin}}}
    with pytest.raises(PlanFileError, match=r"origins\.data_node\.DataMemory"):
        loads(json.dumps(document))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/etc/ndb/config.ini", "config.ini"),
        ("a/b\nc\x7f.ini", "b?c?.ini"),
        ("/", "file"),
        ("x" * 300, "x" * 255),
    ],
)
def test_a_file_is_named_as_an_origin_can_hold_it(path: str, name: str) -> None:
    assert SetByImport(file=file_name(path), line=1).file == name
