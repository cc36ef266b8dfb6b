"""Every refusal of a value says what to write in its place, with the limit."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from ndbplan.base.errors import UserError
from ndbplan.edits import validated
from ndbplan.edits.reading import read_parameter
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import correction
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Workload


@pytest.mark.parametrize(
    ("kind", "field", "value", "fix"),
    [
        (Host, "cores", 0, "write 1 or more"),
        (Host, "cores", 10**9, "or less"),
        (Host, "cores", "many", "write a whole number, such as 4"),
        (Host, "hostname", "a b", "write for example db1.example.org or 10.0.0.5"),
        (Host, "id", "-", "write for example host-a1"),
        (Disk, "kind", "tape", "write one of these: "),
        (Disk, "mount_point", "data", "write for example /var/lib/mysql-cluster"),
        (Disk, "other_load", 1.5, "write 1 or less"),
        (Disk, "capacity_bytes", 0, "write more than 0"),
        (Table, "name", "x" * 65, "shorten it to 64 letters"),
        (Table, "name", "", "write 1 letter at least"),
        (Table, "read_backup", "perhaps", "write true or false"),
        (Table, "columns", 1, "write it in brackets"),
        (Workload, "load", 1, "write its fields in braces"),
    ],
)
def test_a_field_says_what_to_write_instead(kind: Any, field: str, value: Any, fix: str) -> None:
    with pytest.raises(ValidationError) as refused:
        kind.model_validate({field: value})
    error = next(one for one in refused.value.errors() if one["loc"][0] == field)
    assert fix in correction(error)


def test_plan_and_part_refuse_with_the_limit_that_would_do() -> None:
    with pytest.raises(UserError, match=r"— write 0 or more$"):
        validated.changed_plan(Plan(name="p"), {"backups_kept": -1})
    host = Host(id="a", hostname="a", cores=4, memory_bytes=2**30)
    with pytest.raises(UserError, match=r"— write 1 or more$"):
        validated.changed(host, cores=0)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("DataMemory", "0", "— write 1M or more"),
        ("NoOfReplicas", "7", "— write 4 or less"),
        ("DataMemory", "80X", "— write a whole number, such as 512 or 64M"),
        ("NoOfFragmentLogParts", "5", "5 is not allowed — use one of 4, 6, 8"),
        ("Arbitration", "often", "is not one of Disabled, Default, WaitExternal — write one of them"),
    ],
)
def test_a_parameter_says_what_to_write_instead(name: str, text: str, line: str) -> None:
    with pytest.raises(UserError) as refused:
        read_parameter("DB", name, text, NdbVersion.parse("8.0"))
    assert line in refused.value.line


def test_words_of_a_limit_are_those_of_the_model() -> None:
    class Two(BaseModel):
        whole: int

    with pytest.raises(ValidationError) as refused:
        Two.model_validate({"whole": 1.5})
    assert correction(refused.value.errors()[0]) == "write a whole number, such as 4"
