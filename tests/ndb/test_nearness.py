"""Marks of figures: at a run that was measured, between runs, beyond them; ranges grow with the distance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.quantity import Quantity
from ndbplan.ndb.nearness import Situation, kinds, nearness
from ndbplan.ndb.version import NdbVersion

MEASURED = Situation(NdbVersion.parse("8.4.8"), 2, 2, 1e6, 1040, 1e9)
KINDS = st.sampled_from(kinds())
AXES = st.sampled_from(Situation._fields[1:])


def test_a_plan_like_a_run_is_measured_and_names_it() -> None:
    near = nearness("restart", MEASURED)
    assert near.mark == "measured"
    assert near.nearest[0] == "8.4.8, 1 M rows"


def test_a_plan_between_runs_and_one_beyond_say_so() -> None:
    assert nearness("restart", MEASURED._replace(rows=1e8)).mark == "between"
    assert nearness("restart", MEASURED._replace(version=NdbVersion.parse("8.0.30"))).mark == "between"
    assert nearness("restart", MEASURED._replace(nodes=48)).mark == "beyond"
    assert nearness("restart", MEASURED._replace(version=NdbVersion.parse("6.3.20"))).mark == "beyond"


@given(KINDS, AXES, st.floats(1, 1e4), st.floats(1, 1e4), st.booleans())
def test_moving_away_from_all_runs_never_narrows_a_range(
    kind: str, axis: str, first: float, second: float, up: bool
) -> None:
    near, far = sorted((first, second))
    found = Quantity(10.0, 5.0, 20.0, "s")
    widths = []
    for factor in (near, far):
        # From the outermost run of the axis on.
        edge = 1e10 if up else 1e-2
        moved = MEASURED._replace(**{axis: edge * factor if up else edge / factor})
        wide = nearness(kind, moved).widened(found)
        widths.append(wide.high / wide.low)
    assert 4.0 <= widths[0] <= widths[1] * (1 + 1e-9)


def test_what_is_certain_stays_certain_and_no_range_goes_beyond_what_can_be() -> None:
    far = nearness("load", MEASURED._replace(nodes=100))
    assert far.room > 1
    assert far.widened(Quantity.exact(10.0, "s")) == Quantity.exact(10.0, "s")
    wide = far.widened(Quantity(0.9, 0.8, 0.99, "fraction"), 1.0)
    assert wide.low == 0.8 / far.room
    assert wide.high == 1.0
