"""Names of other letters than ASCII, with blanks and quotes, reach SQL nodes as they stand in the plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporting.acted_life import Life
from exporting.acted_typing import typed
from ndbplan.edits.parts import set_plan
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, Table


def named(version: str) -> Plan:
    """Starter with one table, whose names a client of another locale would change."""
    columns = (
        Column(name="größe `x`\\", type="int", nullable=False),
        Column(name="表", type="varchar", length=9, default="'ß'"),
        Column(name="geo", type="enum", length=2, nullable=False),
        Column(name="géo", type="int", nullable=False),
    )
    table = Table(
        id="t",
        database="my döner db",
        name="table é",
        columns=columns,
        primary_key=(columns[0].name,),
        indexes=(Index(name="ключ", columns=(columns[1].name,)),),
    )
    return set_plan(sample_plan("starter").replace(tables=(table,), workloads=()), ndb_version=version)


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_by_the_script(version: str, tmp_path: Path) -> None:
    life = Life(named(version), tmp_path / "life")
    for part in ("install", "start", "schema", "add-nodes"):
        assert list(life.act(part, 0)) == []


def test_by_hand(tmp_path: Path) -> None:
    life = Life(named("8.4.8"), tmp_path / "life")
    for part in ("install", "start", "schema"):
        assert list(typed(life, part)) == []


@pytest.mark.parametrize(("version", "charset"), [("7.1", "utf8"), ("7.2", "utf8mb4"), ("8.4", "utf8mb4")])
def test_the_schema_says_its_letters_before_it_names_anything(version: str, charset: str) -> None:
    lines = [
        line for line in render_schema(named(version)).splitlines() if line and not line.startswith("--")
    ]
    assert lines[0] == f"SET NAMES {charset};"
