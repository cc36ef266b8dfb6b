"""Variants in one file: whatever was edited is read as it was, and equal parts are the same objects."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits.test_hostile_names import one_edit
from hostile_plans import hostile_plan
from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.plan.fields import Part
from ndbplan.plan.file import PlanFileError, dumps, load, load_project, loads_project, open_file, save
from ndbplan.plan.hardware import Location
from ndbplan.plan.patch import applied, difference
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project, Variant
from ndbplan.plan.samples import sample_plan
from random_plans import random_plan

STARTER = sample_plan("starter")


def project(*plans: Plan) -> Project:
    """Variants called 0, 1, 2 …"""
    return Project(variants=tuple(Variant(name=str(n), plan=plan) for n, plan in enumerate(plans)))


def edited(random: Random, plan: Plan, count: int) -> Plan:
    """A plan after some edits drawn by chance, refused ones left out; parts stand in another order."""
    for _ in range(count):
        try:
            after = one_edit(random, plan)
        except UserError:
            continue
        if after.hosts and after.data_nodes:
            plan = after
    if random.random() < 0.3:
        plan = plan.replace(
            hosts=tuple(random.sample(plan.hosts, len(plan.hosts))),
            tables=tuple(random.sample(plan.tables, len(plan.tables))),
        )
    return plan


def copies(first: Any, second: Any, way: str = "") -> list[str]:
    """Parts, and lists of them, that are equal in two plans and not the same object."""
    if first is second or not isinstance(first, Part | tuple) or type(first) is not type(second):
        return []
    if first == second:
        return [way] if isinstance(first, Part) or (first and isinstance(first[0], Part)) else []
    if isinstance(first, Part):
        pairs = [(name, getattr(first, name), getattr(second, name)) for name in type(first).model_fields]
    else:
        known = {one.id: one for one in second if hasattr(one, "id")}
        pairs = [(one.id, one, known[one.id]) for one in first if getattr(one, "id", None) in known]
    return [place for name, one, other in pairs for place in copies(one, other, f"{way}.{name}")]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_variants_are_read_as_they_were_written(seed: int, count: int) -> None:
    random = Random(seed)
    plans = [sample_plan(random.choice(("starter", "disk-data", "add-nodes-8.4")))]
    for _ in range(count):
        plans.append(edited(random, random.choice(plans), random.choice((0, 1, 6))))
    written = project(*plans)
    read = loads_project(dumps(written))
    assert read == written
    assert dumps(read) == dumps(written)
    for variant in read.variants[1:]:
        assert copies(variant.plan, read.main) == []


@pytest.mark.parametrize("seed", range(12))
def test_variants_that_have_nothing_in_common(seed: int) -> None:
    plans = project(random_plan(seed), random_plan(seed + 100), hostile_plan(seed), Plan(), random_plan(seed))
    read = loads_project(dumps(plans))
    assert read == plans
    assert read.variants[4].plan is read.main


def test_a_variant_is_written_as_what_it_changes() -> None:
    host, disk = STARTER.hosts[0], STARTER.hosts[0].disks[0]
    other = edits.update(STARTER, host.id, cores=48)
    other = edits.update(other, disk.id, sequential_write_bytes_per_s=1e9)
    other = edits.remove(other, [STARTER.tables[0].id])
    document = json.loads(dumps(project(STARTER, other)))
    assert {key: value for key, value in document.items() if key != "variants"} == json.loads(dumps(STARTER))
    own, changed = document["variants"]
    assert own == {"name": "0"}
    hosts = {host.id: {"cores": 48, "disks": {disk.id: {"sequential_write_bytes_per_s": 1e9}}}}
    assert changed["changes"]["hosts"] == hosts
    tables = changed["changes"]["tables"]
    assert tables == {STARTER.tables[0].id: None} or tables is None


def test_one_variant_that_nobody_named_is_the_plan_alone() -> None:
    assert dumps(Project.of(STARTER)) == dumps(STARTER)
    named = Project(variants=(Variant(name="As bought", note="two racks", plan=STARTER),))
    assert loads_project(dumps(named)) == named


def test_one_change_is_few_lines() -> None:
    before = project(STARTER, edits.update(STARTER, STARTER.hosts[0].id, cores=48))
    after = before.with_plan(1, edits.update(before.variants[1].plan, STARTER.hosts[0].id, cores=64))
    lines = [text.splitlines() for text in (dumps(before), dumps(after))]
    assert sum(a != b for a, b in zip(*lines, strict=True)) == 1


def test_a_list_in_another_order_and_names_like_the_keys_of_a_patch() -> None:
    named = [{"name": name, "n": n} for n, name in enumerate(("a", "$order", "b"))]
    cases: list[list[Any]] = [
        [{"id": "a"}, {"id": "b", "x": 1}], [{"id": "b", "x": 1}, {"id": "a"}], [{"id": "c"}, {"id": "b"}],
        [{"name": "a"}], named, named[::-1], [{"name": "a"}, {"name": "a"}], [1, 2], [],
        [{"id": "a", "name": "b"}],
    ]  # fmt: skip
    for before in cases:
        for after in cases:
            patch = difference({"list": before}, {"list": after})
            assert applied({"list": before}, patch) == {"list": after}
            assert (patch == {}) == (before == after)


def test_a_plan_of_one_variant_replaces_no_others(tmp_path: Path) -> None:
    path = tmp_path / "a.ndbplan"
    both = project(STARTER, edits.update(STARTER, STARTER.hosts[0].id, cores=48))
    save(both, path)
    assert load_project(path) == both
    assert load(path) == STARTER


@pytest.mark.parametrize(
    ("variants", "says"),
    [
        ([], "variants"),
        ("two", "variants"),
        ([{"name": "A", "changes": {"notes": "x"}}], "first variant"),
        ([{"name": "A"}, {"name": "A"}], "two variants are called 'A'"),
        ([{"name": "A"}, {"name": "B", "changes": {"hosts": {"host-a1": {"cores": -1}}}}], "hosts[0].cores"),
        ([{"name": "A"}, {"name": "B", "changes": {"hosts": {"new": {"cores": 2}}}}], "field is missing"),
        ([{"name": "A"}, {"name": "B", "changes": {"name": {"x": 1}}}], "variants[1].changes"),
        ([{"name": "A"}, {"name": "B", "changes": {"format_version": 3}}], "format_version"),
        ([{"name": "A"}, {"name": "B", "changes": {"moods": 3}}], "no such field"),
        ([{"name": "A"}, {"name": "B", "mood": 3}], "variants[1].mood"),
        ([{"name": "A"}, {"name": "B", "changes": {"hosts": {"$order": 3}}}], "$order"),
        ([{"name": "A"}, {"name": "B", "changes": {"hosts": {"host-a1": 3}}}], "hosts.host-a1"),
        ([{"name": str(n)} for n in range(101)], "100"),
    ],
)
def test_what_is_wrong_with_a_variant_is_said_in_one_line(variants: Any, says: str) -> None:
    with pytest.raises(PlanFileError) as caught:
        loads_project(json.dumps({**json.loads(dumps(STARTER)), "variants": variants}), name="a.ndbplan")
    assert says in caught.value.line
    assert caught.value.fix
    assert "\n" not in caught.value.line


def test_variants_of_a_newer_format_are_read_as_far_as_they_are_understood(tmp_path: Path) -> None:
    document = json.loads(dumps(STARTER))
    first = document["hosts"][0]["id"]
    document |= {"format_version": 3}
    document["hosts"][0]["gpus"] = 4
    document["variants"] = [
        {"name": "A", "mood": 1},
        {"name": "B", "changes": {"hosts": {first: {"cores": 48, "gpus": 8, "fans": 2}}}},
        {"name": "B"},
        7,
    ]
    (tmp_path / "a.ndbplan").write_text(json.dumps(document))
    opened = open_file(tmp_path / "a.ndbplan")
    assert opened.project.names == ("A", "B")
    assert opened.project.variants[1].plan == edits.update(STARTER, first, cores=48)
    left_out = {"hosts[0].gpus", "variants[0].mood", "variants[1].changes.hosts[0].fans", "variants[2]"}
    assert left_out | {"variants[3]"} == set(opened.not_understood)


def test_a_variant_keeps_its_parts_when_the_main_plan_has_none_any_more() -> None:
    other = edits.add(STARTER, Location(id="r9", name="Rack 9"))
    document = json.loads(dumps(project(STARTER, other)))
    document = {key: document[key] for key in ("format_version", "variants")}
    read = loads_project(json.dumps(document))
    assert (read.main, [place.id for place in read.variants[1].plan.locations]) == (Plan(), ["r9"])


def test_git_can_merge_what_two_people_changed() -> None:
    """One renames a host, the other adds cores to it in a variant: the variant has both."""
    other = edits.update(STARTER, STARTER.hosts[0].id, cores=48)
    document = json.loads(dumps(project(STARTER, other)))
    document["hosts"][0]["hostname"] = "other"
    read = loads_project(json.dumps(document))
    assert [(v.plan.hosts[0].hostname, v.plan.hosts[0].cores) for v in read.variants] == [
        ("other", STARTER.hosts[0].cores),
        ("other", 48),
    ]
    assert all(a.plan.tables is b.plan.tables for a, b in pairwise(read.variants))
