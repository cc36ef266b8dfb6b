"""Variants of a project: where one that is moved comes to stand."""

from __future__ import annotations

from itertools import product

import pytest

from ndbplan.edits.validated import EditError
from ndbplan.edits.variants import added, moved, named, renamed
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.project import Project


@pytest.mark.parametrize(("place", "to"), list(product(range(3), range(-1, 5))))
def test_a_variant_comes_to_stand_where_it_is_put_and_the_others_stay_in_order(place: int, to: int) -> None:
    project = Project.of(EMPTY_PLAN)
    for name in ("b", "c"):
        project = added(project, name, len(project.variants) - 1, EMPTY_PLAN)
    names = [variant.name for variant in project.variants]
    found = [variant.name for variant in moved(project, place, to).variants]
    name = names.pop(place)
    # Before the first is the first place, behind the last one the last.
    names.insert(min(max(to, 0), 2), name)
    assert found == names


def test_names_with_commas_and_spaces_are_found_in_a_list() -> None:
    project = Project.of(EMPTY_PLAN)
    names = ("a,b", "a", " c ", "d, e", "c")
    for name in names:
        project = added(project, name, 0, EMPTY_PLAN)
    assert named(project, "a,b") == ["a,b"]
    assert named(project, "a, c ,d,e, a , b") == ["a", "c", "d, e", "a,b"]
    assert named(added(Project.of(EMPTY_PLAN), " c ", 0, EMPTY_PLAN), "c,Main") == [" c ", "Main"]


@pytest.mark.parametrize("name", [" ", "   ", "\u00a0 "])
def test_a_name_that_cannot_be_seen_is_refused(name: str) -> None:
    """Lists of variants showed an empty line, and `there are , -o`."""
    project = Project.of(EMPTY_PLAN)
    with pytest.raises(EditError, match="blanks"):
        added(project, name, 0)
    with pytest.raises(EditError, match="blanks"):
        renamed(project, 0, name)
    assert added(project, " c ", 0).names[1] == " c "
