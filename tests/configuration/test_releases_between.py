"""Releases that were soon replaced: 8.1, 8.2 and 8.3 are taken as what they are, between 8.0 and 8.4."""

from __future__ import annotations

import pytest

from ndbplan.configuration.needs import not_upgraded, upgrades
from ndbplan.edits.parts import set_plan
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.console import release_of
from ndbplan.ndb.evidence import unheld
from ndbplan.ndb.features import Features, features
from ndbplan.ndb.version import SERIES, BadVersionError, NdbVersion, series_after, series_before
from ndbplan.plan.samples import sample_plan

BETWEEN = ("8.1", "8.1.0", "8.2.0", "8.3", "8.3.0")


@pytest.mark.parametrize("text", BETWEEN)
def test_a_plan_may_be_for_one_that_is_offered_to_none(text: str) -> None:
    plan = set_plan(sample_plan("starter"), ndb_version=text)
    assert NdbVersion.parse("8.0") < plan.version < NdbVersion.parse("8.4.0")
    assert str(plan.version) == text
    assert plan.version.series not in SERIES
    assert series_before(plan.version)[-1] == "8.0"
    assert series_after(plan.version)[0] == "8.4"
    assert release_of(plan.version).ndb.startswith(text)
    assert unheld(plan.version) == f"rules of NDB {text} are interpolated from manuals, 7.4.10 and 8.4.8"


@pytest.mark.parametrize("name", [*Features._fields])
def test_what_it_does_is_done_by_a_neighbour(name: str) -> None:
    """Never something that neither does, but for whence a cluster is brought to it."""
    around = {str(getattr(features(NdbVersion.parse(one)), name)) for one in ("8.0", "8.4")}
    for text in BETWEEN:
        assert str(getattr(features(NdbVersion.parse(text)), name)) in around


def test_a_parameter_is_known_from_its_release_on() -> None:
    for text, known in (("8.0", False), ("8.2.0", False), ("8.3.0", True), ("8.3", True), ("8.4", True)):
        assert catalogue.knows("DB", "RequireTls", NdbVersion.parse(text)) is known


@pytest.mark.parametrize(
    ("before", "after", "fix"),
    [
        ("8.0.18", "8.1", "upgrade to 8.0.19"),
        ("7.6", "8.3", "upgrade to 8.0.19"),
        ("8.0", "8.2", ""),
        ("8.1.0", "8.3.0", ""),
        ("8.3", "8.4", ""),
        ("8.0", "8.4.8", ""),
        ("8.3.0", "9.x", "upgrade to 8.4"),
        ("8.0.43", "9.1.0", "upgrade to 8.4"),
        ("8.4", "9.x", ""),
        ("9.0.0", "9.1.0", ""),
        ("8.4", "8.3", "install the older release"),
        ("8.4.6", "8.4.8", ""),
        ("8.4.6", "8.4", "state a release, as 8.4.6"),
        ("8.4", "8.4.6", "state a release, as 8.4.6"),
        ("8.4", "8.4", ""),
        ("8.0.30", "8.4", ""),
    ],
)
def test_none_is_passed_over_that_mysqld_does_not_pass_over(before: str, after: str, fix: str) -> None:
    """A data directory goes from one long-lived series to the next, with what came between them."""
    found = [fix for _, fix in not_upgraded(NdbVersion.parse(before), NdbVersion.parse(after))]
    assert found[:1] == [] if not fix else found[0].startswith(fix)


@pytest.mark.parametrize("text", ["7.7", "8.5", "8.10", "10.0", "5.7"])
def test_what_never_was_is_refused(text: str) -> None:
    with pytest.raises(BadVersionError):
        NdbVersion.parse(text)


@pytest.mark.parametrize("text", ["6.3", "7.6.7", "8.0.13", "8.3", "8.4.8", "9.1.0", "9.x"])
def test_series_around_a_release_are_all_but_its_own(text: str) -> None:
    version = NdbVersion.parse(text)
    own = [version.series] if version.series in SERIES else []
    assert [*series_before(version), *own, *series_after(version)] == [*SERIES]


def test_upgrades_that_are_offered_are_in_reach() -> None:
    offered = {
        text: upgrades(NdbVersion.parse(text)) for text in ("7.6", "8.0.13", "8.0", "8.2", "8.4", "9.x")
    }
    assert offered == {
        "7.6": ("8.0",), "8.0.13": (), "8.0": ("8.4",), "8.2": ("8.4",), "8.4": ("9.x",), "9.x": (),
    }  # fmt: skip
