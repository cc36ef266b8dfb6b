"""What must hold inside a plan: each way to break it is found, and the message names the place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ndbplan.plan.fields import Part
from ndbplan.plan.hardware import Location
from ndbplan.plan.places import MOST_LEVELS
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, DiskRoles, Link
from ndbplan.plan.references import (
    BrokenReferenceError,
    _fields_of,
    _parts_in,
    broken,
    first_broken,
    references,
    renamed,
)
from ndbplan.plan.samples import sample_names, sample_plan

STARTER = sample_plan("starter")
DISK_DATA = sample_plan("disk-data")


@pytest.mark.parametrize("name", sample_names())
def test_samples_hold(name: str) -> None:
    assert list(broken(sample_plan(name))) == []


def swapped(plan: Plan, collection: str, **fields: Any) -> Plan:
    """The plan with fields of the first part of a collection exchanged, unchecked."""
    first, *rest = getattr(plan, collection)
    return plan.replace(**{collection: (first.model_copy(update=fields), *rest)})


@pytest.mark.parametrize(
    ("plan", "where", "what"),
    [
        (swapped(STARTER, "hosts", location_id="none"), "hosts[0].location_id", "no location 'none'"),
        (swapped(STARTER, "hosts", location_id="app-a1"), "hosts[0].location_id", "no location"),
        (swapped(STARTER, "processes", host_id="none"), "processes[0].host_id", "no host 'none'"),
        (swapped(STARTER, "processes", host_id="rack-a"), "processes[0].host_id", "no host"),
        (
            swapped(STARTER, "processes", disk_roles=DiskRoles(lcp="none")),
            "processes[0].disk_roles.lcp",
            "no disk 'none'",
        ),
        (
            swapped(STARTER, "processes", disk_roles=DiskRoles(undo="host-b1-nvme0")),
            "processes[0].disk_roles.undo",
            "own host",
        ),
        (swapped(STARTER, "hosts", id="app-a1"), "ids", "used twice"),
        (swapped(STARTER, "processes", node_id=2), "processes[1].node_id", "node id 2 is used twice"),
        (swapped(STARTER, "tables", name="product"), "tables[1].name", "shop.product is there twice"),
        (swapped(STARTER, "tables", primary_key=("no",)), "tables[0].primary_key", "no column 'no'"),
        (
            swapped(STARTER, "tables", distribution_key=("email",)),
            "tables[0].distribution_key",
            "not in the primary key",
        ),
        (swapped(STARTER, "tables", tablespace_id="ts"), "tables[0].tablespace_id", "no tablespace"),
        (
            swapped(DISK_DATA, "tablespaces", logfile_group_id="ts1"),
            "tablespaces[0].logfile_group_id",
            "no log file group",
        ),
        (
            STARTER.replace(tables=STARTER.tables[1:]),
            "workloads[0].transactions[1].operations[0].table_id",
            "no table 'customer'",
        ),
        (
            STARTER.replace(links=(Link(process_id_1="ndb1", process_id_2="gone"),)),
            "links[0].process_id_2",
            "gone",
        ),
    ],
)
def test_each_contradiction_is_found_at_its_place(plan: Plan, where: str, what: str) -> None:
    found = first_broken(plan)
    assert found is not None
    assert where in found.where
    assert what in found.what
    assert found.fix
    with pytest.raises(ValueError, match="validation error"):
        Plan.model_validate(plan.model_dump())


def changes_of_one_thing(plan: Plan) -> Iterator[Plan]:
    """Each part taken out, twice there, with each name in it exchanged, and disks that move."""
    ids = ["none", *(part.id for part in plan.objects())]
    for name in ("locations", "hosts", "processes", "logfile_groups", "tablespaces", "tables", "workloads"):
        parts = getattr(plan, name)
        for i, part in enumerate(parts):
            rest = (*parts[:i], *parts[i + 1 :])
            yield plan.replace(**{name: rest})
            yield plan.replace(**{name: (*parts, part.model_copy())})
            for one in dict.fromkeys(reference.id for reference in references(part)):
                for other in ids[:: max(1, len(ids) // 6)]:
                    yield plan.replace(**{name: (renamed(part, {one: other}), *rest)})
            yield plan.replace(**{name: (part.model_copy(update={"id": "another"}), *rest)})
    first, second, *others = plan.hosts
    moved = (
        first.model_copy(update={"disks": second.disks}),
        second.model_copy(update={"disks": first.disks}),
        *others,
    )
    yield plan.replace(hosts=moved)
    for table in plan.tables:
        fewer = table.model_copy(
            update={"columns": table.columns[:1], "primary_key": (), "distribution_key": (), "indexes": ()}
        )
        yield plan.replace(tables=(fewer, *(one for one in plan.tables if one is not table)))
    yield swapped(plan, "processes", node_id=plan.processes[1].node_id)
    yield swapped(plan, "tables", name=plan.tables[-1].name, database=plan.tables[-1].database)


@pytest.mark.parametrize("plan", [STARTER, DISK_DATA], ids=["starter", "disk-data"])
def test_what_is_new_tells_of_all_contradictions(plan: Plan) -> None:
    found: list[bool] = []
    for after in changes_of_one_thing(plan):
        whole = first_broken(after)
        since = after.broken_since(plan)
        assert (since and (since.what, since.where)) == (whole and (whole.what, whole.where))
        found.append(whole is None)
    assert 10 < sum(found) < len(found) - 10


def test_all_contradictions_are_listed() -> None:
    plan = swapped(swapped(STARTER, "hosts", location_id="none"), "tables", primary_key=("no",))
    assert [type(found) for found in broken(plan)] == [BrokenReferenceError] * 2


def _walked(kind: type[Part]) -> set[type[Part]]:
    """The kind and all kinds of parts in it."""
    found = {kind}
    for field in kind.model_fields.values():
        for inner in _parts_in(field.annotation):
            found |= _walked(inner)
    return found


def test_every_field_that_holds_an_id_declares_what_it_names() -> None:
    """All but the id of an object itself: an id that nobody declares would be neither checked nor renamed."""
    for kind in _walked(Plan):
        declared = {name for name, _ in _fields_of(kind).refs}
        ids = {
            name
            for name, field in kind.model_fields.items()
            if name.endswith(("_id", "_ids", "_id_1", "_id_2")) and "int" not in str(field.annotation)
        }
        if kind is DiskRoles:
            ids = {role.value for role in DiskRole}
        assert declared == ids, kind


def test_a_walk_tells_every_reference_with_its_path() -> None:
    workload = sample_plan("telecom-144").workloads[0]
    found = list(references(workload))
    assert len(found) == sum(len(t.operations) for t in workload.transactions) + len(
        [r for e in workload.events for r in references(e)]
    )
    for reference in found:
        value: object = workload
        for step in reference.path:
            value = value[step] if isinstance(step, int) else getattr(value, step)  # type: ignore[index]
        assert value == reference.id


def test_a_location_that_sinks_takes_those_in_it_along() -> None:
    chain = [
        Location(id=f"l{i}", name=f"l{i}", parent_id=f"l{i - 1}" if i else None) for i in range(MOST_LEVELS)
    ]
    before = STARTER.replace(locations=(*STARTER.locations, *chain))
    assert before.broken is None
    sunk = chain[0].model_copy(update={"parent_id": STARTER.locations[0].id})
    after = before.replace(locations=(*STARTER.locations, sunk, *chain[1:]))
    assert after.broken_since(before) is not None
