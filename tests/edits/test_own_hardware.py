"""Hardware of the user's own is kept in a file, offered, made, exchanged and refused where it is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ndbplan.base.errors import UserError
from ndbplan.edits import own_hardware as own
from ndbplan.edits.additions import add
from ndbplan.edits.arrays import put_level
from ndbplan.edits.offers import make_disk, make_host
from ndbplan.edits.palette import offer, offers, usual_offers
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

PLAN = put_level(sample_plan("starter"), sample_plan("starter").hosts[0].disks[0].id, "10")
HOST = PLAN.hosts[0]


def test_what_is_kept_is_offered_and_made_again_anywhere() -> None:
    assert offers() == usual_offers()
    kept = own.keep(PLAN, HOST.id, " our  blades ")
    disk = own.keep(PLAN, HOST.disks[1].id, "fast")
    assert (offer(kept.key).text, offer(disk.key).kind) == ("our blades", "disk")
    kinds = [one.kind for one in offers()]
    assert kinds == sorted(kinds, key=["location", "host", "disk", "process", "role"].index)
    made = make_host(EMPTY_PLAN, kept.key)
    assert (made.hostname, made.location_id, made.cores) == ("host-1", None, HOST.cores)
    for again, was in zip(made.disks, HOST.disks, strict=True):
        assert again.model_copy(update={"id": was.id}) == was
    assert len({d.id for d in made.disks} & PLAN.by_id.keys()) == 0
    third = make_disk(PLAN, HOST, disk.key)
    assert third.name not in {d.name for d in HOST.disks}
    assert third.random_write_iops == HOST.disks[1].random_write_iops
    added = add(EMPTY_PLAN, "host", ["b1", "class=our blades"]).plan.hosts[0]
    assert (added.hostname, len(added.disks)) == ("b1", len(HOST.disks))


def test_one_of_the_same_name_is_replaced_and_one_that_is_gone_is_named() -> None:
    own.keep(PLAN, HOST.id, "mine")
    kept = own.keep(PLAN, PLAN.hosts[-1].id, "mine")
    (left,) = own.own_hardware()
    assert isinstance(left.part, Host)
    assert left.part.cores == PLAN.hosts[-1].cores
    own.forget(kept.key)
    with pytest.raises(UserError, match="no hardware of your own called 'mine'"):
        make_host(EMPTY_PLAN, kept.key)


def test_it_goes_to_a_colleague_and_what_is_wrong_there_is_said_and_changes_nothing(tmp_path: Path) -> None:
    own.keep(PLAN, HOST.id, "mine")
    file = tmp_path / "for-you.json"
    assert own.write_out(file) == 1
    own.forget("own:host:mine")
    assert [one.name for one in own.take_in(file)] == ["mine"]
    document = json.loads(file.read_text())
    document["hardware"][0]["host"]["cores"] = 0
    file.write_text(json.dumps(document))
    with pytest.raises(UserError, match=r"hardware\[0\]\.cores: 0 is refused"):
        own.take_in(file)
    document["hardware"] = [{"kind": "disk", "name": "half", "disk": {"capacity_bytes": 1}}]
    file.write_text(json.dumps(document))
    with pytest.raises(
        UserError, match=r"hardware\[0\]\.sequential_read_bytes_per_s: sequential_read_bytes_per_s is missing"
    ):
        own.take_in(file)
    for text in (
        "",
        "[]",
        '{"hardware": 1}',
        '{"hardware": [{"kind": "rack"}]}',
        '{"hardware": [{"kind":"disk"}]}',
        '{"hardware": [], "hardware": []}',
    ):
        file.write_text(text)
        with pytest.raises(UserError):
            own.take_in(file)
    assert [one.name for one in own.own_hardware()] == ["mine"]


def test_a_file_that_cannot_be_read_leaves_the_usual_offers() -> None:
    own.own_file().parent.mkdir(parents=True)
    own.own_file().write_text("no JSON")
    assert offers() == usual_offers()


@pytest.mark.parametrize("damage", ["no JSON", '{"hardware": [{"kind": "host", "name": "x"}]}', "[" * 10**5])
def test_a_file_that_cannot_be_read_is_not_written_over(damage: str, tmp_path: Path) -> None:
    own.keep(PLAN, HOST.id, "mine")
    good = tmp_path / "good.json"
    own.write_out(good)
    own.own_file().write_text(damage)
    for attempt in (
        lambda: own.keep(PLAN, HOST.id, "another"),
        lambda: own.forget("own:host:mine"),
        lambda: own.take_in(good),
        lambda: own.write_out(good),
    ):
        with pytest.raises(UserError, match=r"hardware\.json"):
            attempt()
    assert own.own_file().read_text() == damage
    assert len(own.read(good)) == 1
