"""Which assumptions decide the memory: ranked by what rests on them, and gone once the value is stated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.advise.tighten import DECIDES, assumptions, deciding
from ndbplan.base.units import format_percent
from ndbplan.checks.run import check
from ndbplan.edits.assign import assign
from ndbplan.edits.offers import make_host, make_process, make_table
from ndbplan.edits.parts import add, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.tables import Column


def plan_with(*columns: Column, rows: int = 20_000_000) -> Plan:
    plan = EMPTY_PLAN
    for _ in range(2):
        host = make_host(plan, "host-small")
        plan = add(plan, host)
        plan = add(plan, make_process(plan, "data", host.id))
    table = make_table(plan)
    key = table.columns[0]
    return add(plan, table.model_copy(update={"rows": rows, "assumed": (), "columns": (key, *columns)}))


def needed(plan: Plan) -> float:
    return sum(node.data_memory_bytes.value for node in Estimation(plan).memory.nodes)


JSON = Column(name="doc", type="json")
NOTE = Column(name="note", type="varchar", length=200)


def test_one_json_column_decides_and_is_named_with_what_it_may_be() -> None:
    plan = plan_with(JSON, NOTE)
    doc, note = assumptions(Estimation(plan))
    assert (doc.what, note.what) == ("mean length of test.t1.doc", "mean length of test.t1.note")
    assert deciding((doc, note)) == (doc,)
    assert doc.share > DECIDES > note.share
    assert doc.assumed == 1000
    assert doc.low_bytes < doc.bytes < doc.high_bytes
    assert doc.bytes == pytest.approx(needed(plan))


def test_the_problem_of_the_memory_names_the_same_share() -> None:
    """53 % stood in Problems beside 55 % in Memory: blobs take heads and parts besides their bytes."""
    now = Estimation(plan_with(JSON, NOTE))
    (told,) = (one.message for one in check(now.plan) if one.rule == "data-memory-fill")
    assert f"of test.t1.doc, {format_percent(assumptions(now)[0].share)} of it all" in told


def test_what_is_stated_is_no_assumption_any_more_and_its_address_works() -> None:
    plan = plan_with(JSON, NOTE)
    doc = assumptions(Estimation(plan))[0]
    stated, _ = assign(plan, f"{doc.address}=200")
    assert [one.what for one in assumptions(Estimation(stated))] == ["mean length of test.t1.note"]
    assert needed(stated) < 0.5 * needed(plan)
    rows = update(plan, plan.tables[0].id, assumed=("rows",))
    assert assumptions(Estimation(rows))[0].what == "rows of test.t1"


def test_without_data_nodes_or_assumptions_there_is_nothing_to_tighten() -> None:
    assert assumptions(Estimation(EMPTY_PLAN)) == ()
    assert assumptions(Estimation(plan_with())) == ()


@given(st.integers(1, 3000), st.integers(0, 10**8), st.floats(0.0, 1.0))
def test_shares_are_shares_and_the_ends_hold_the_value(length: int, rows: int, nulls: float) -> None:
    column = Column(name="v", type="varchar", length=length, null_fraction=nulls)
    found = assumptions(Estimation(plan_with(column, JSON, rows=rows)))
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
    for one in found:
        assert 0.0 <= one.share <= 1.0
        assert one.low_bytes <= one.bytes * (1 + 1e-9)
        assert one.high_bytes >= one.bytes * (1 - 1e-9)
