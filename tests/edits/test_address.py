"""Addresses and values: every field has one address that leads back to it, and what is typed is read."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.edits import reading
from ndbplan.edits.address import AddressError, resolve, split
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.places import Place, address_of, at, fields, walk
from ndbplan.plan.fields import Part
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import EMPTY_PLAN, Plan, Waiver
from ndbplan.plan.processes import DataNode, DiskRole, Link
from ndbplan.plan.samples import sample_names, sample_plan
from ndbplan.plan.workloads import ClosedLoad, Transaction

STARTER = sample_plan("starter")
OVERLOAD = sample_plan("redo-overload")
TELECOM = sample_plan("telecom-144")


def places_of(plan: Plan, most: int = 450) -> list[Place]:
    """Fields of a plan, spread over all of it when there are many."""
    every = list(fields(plan))
    return every[:: max(1, len(every) // most)]


@pytest.mark.parametrize("name", sample_names())
def test_every_field_of_a_sample_is_addressable_and_its_own_value_changes_nothing(name: str) -> None:
    plan = sample_plan(name)
    for place in places_of(plan):
        address = place.address(plan)
        (found,) = resolve(plan, address)
        assert found == place, address
        text = reading.text_of(place.shape, place.value)
        after, changes = assign(plan, f"{address}={text}")
        assert after is plan, f"{address}={text}"
        assert [(c.address, c.before == c.after) for c in changes] == [(address, True)]


def test_fields_are_all_that_the_file_holds() -> None:
    """Nothing of a plan is out of reach: with every field as it was found, the file is the same."""

    def leaves(value: Any) -> int:
        if isinstance(value, dict):
            return sum(map(leaves, value.values()))
        if isinstance(value, list) and any(isinstance(one, dict) for one in value):
            return sum(map(leaves, value))
        return 1

    for name in sample_names():
        plan = sample_plan(name)
        written = leaves(plan.model_dump(mode="json", exclude_defaults=True, exclude={"notes"}))
        reached = [place for place in fields(plan) if place.value is not None]
        assert len(reached) >= written


def other(place: Place) -> Any:
    """Another value that the field takes by its shape; None: none is known."""
    shape, now = place.shape, place.value
    if shape.kind == "flag":
        return not now
    if shape.kind == "choice":
        return next((choice for choice in shape.choices if choice != reading.plain(now)), None)
    if shape.kind == "share":
        return 0.25 if now != 0.25 else 0.5
    if shape.kind in ("bytes", "rate", "seconds", "count") and now is not None:
        return now + 1
    return None


@pytest.mark.parametrize("name", sample_names())
def test_what_is_set_is_what_is_found_there(name: str) -> None:
    plan = sample_plan(name)
    done = 0
    for place in places_of(plan, 90 if len(plan.hosts) < 100 else 25):
        value = other(place)
        address = place.address(plan)
        if value is None or address == "format_version":
            continue
        after = tried(plan, f"{address}={reading.text_of(place.shape, value)}")
        if isinstance(after, str):
            # Other parts of the plan forbid some, such as a node id that is taken or more than a limit.
            assert address in after
            continue
        done += 1
        found = [p.value for p in walk(after) if p.path == place.path]
        if place.path[-1] == "at_s":
            # Rates stand in the order of time.
            continue
        assert [reading.plain(one) for one in found] == [value], address
        assert loads(dumps(after)) == after
        assert place.path[-1] not in getattr(owner(after, place), "assumed", ())
    assert done > 5


def tried(plan: Plan, text: str) -> Plan | str:
    """The plan after a setting, or the one line that refuses it."""
    try:
        return assign(plan, text)[0]
    except UserError as refused:
        return refused.line


def owner(plan: Plan, place: Place) -> Any:
    found = [p.value for p in walk(plan) if p.path == place.path[:-1]]
    return found[0] if found else plan


@pytest.mark.parametrize(
    ("address", "canonical"),
    [
        ("hosts[data1].cores", "hosts[data1].cores"),
        ("hosts[data1].memory", "hosts[data1].memory_bytes"),
        ("hosts[data1].disks[c0d0].write", "hosts[data1].disks[data1-c0d0].sequential_write_bytes_per_s"),
        ("processes[3].group", "processes[ndb3].node_group"),
        ("processes[ndb3].RedoBuffer", "processes[ndb3].parameters.RedoBuffer"),
        ("processes[ndb3].redo", "processes[ndb3].disk_roles.redo"),
        ("processes[ndb3].redo.disk.capacity", "hosts[data1].disks[data1-c0d1].capacity_bytes"),
        ("tables[test.blobs_5k].rows", "tables[blobs_5k].rows"),
        ("ndb3.node_group", "processes[ndb3].node_group"),
        ("version", "ndb_version"),
    ],
)
def test_ways_to_name_one_field(address: str, canonical: str) -> None:
    plan = OVERLOAD
    if "tables" in address:
        address = address.replace("test.", f"{plan.tables[0].database}.").replace(
            "blobs_5k", plan.tables[0].name
        )
        canonical = f"tables[{plan.tables[0].id}].rows"
    assert [p.address(plan) for p in resolve(plan, address)] == [canonical]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("hosts[data9].cores", "data1"),
        ("hosts[0].cores", "no '0'"),
        ("hosts[data1].core", "did you mean cores"),
        ("host[data1]", "did you mean hosts"),
        ("RedoBufer", "RedoBuffer"),
        ("hosts", ""),
        ("hosts[data1].cores.x", "nothing inside"),
        ("hosts[data1].position.x", "not set"),
        ("hosts.cores", "hosts is a list — write hosts[*].cores"),
        ("tables.*.rows", "tables is a list — write tables[*],"),
        ("workloads[blobs-5k].load.points[7].at_s", "from 0 to 0"),
        ("parameters.data_node.Redobufer", "RedoBuffer"),
        ("parameters.data_node.TransactionMemory", "came with 8.0"),
        ("redo.size", "redo.disk"),
        ("processes[mgm1].redo", "no field 'redo'"),
        ("hosts[data1", "not closed"),
        ('hosts["data1].cores', "quoted name"),
        ("", "name is missing"),
        ("name[x]", "not a list"),
        ("HostName", "hosts and processes"),
    ],
)
def test_what_leads_nowhere_says_where_it_ends_and_what_is_there(address: str, said: str) -> None:
    if not said:
        assert len(resolve(OVERLOAD, address)) == 1
        return
    with pytest.raises(UserError) as refused:
        resolve(OVERLOAD, address)
    assert said in refused.value.line
    assert "\n" not in refused.value.line


def with_names(plan: Plan, *names: str) -> Plan:
    """The plan whose first workload has transactions of these names."""
    workload = plan.workloads[0]
    one = workload.transactions[0]
    return edits.update(
        plan,
        workload.id,
        transactions=tuple(Transaction(name=name, operations=one.operations) for name in names),
    )


@given(
    st.lists(
        st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=8), min_size=1
    )
)
def test_names_of_any_signs_lead_back_even_when_several_are_alike(names: list[str]) -> None:
    plan = with_names(STARTER, *names)
    addresses = []
    for i, _ in enumerate(names):
        path = ("workloads", 0, "transactions", i, "weight")
        addresses.append(address_of(plan, path))
        (found,) = resolve(plan, addresses[-1])
        assert found.path == path
        # Nothing behind the = is taken for a part of the address.
        tokens, rest = split(f"{addresses[-1]}=a]b=c")
        assert rest == "=a]b=c"
        assert len(tokens) == 3
    assert len(set(addresses)) == len(names)


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ("[a][0]", 0),
        ("[a][1]", 2),
        ("[a][2]", "there are only 2 of that name, counted from 0"),
        ('[a]["1"]', "is not a list, so it has no [1]"),
        ("[a][x]", "is not a list, so it has no [x]"),
        ("[b][0]", "is not a list, so it has no [0]"),
    ],
)
def test_a_number_behind_a_name_counts_those_of_that_name(behind: str, found: int | str) -> None:
    plan = with_names(STARTER, "a", "b", "a")
    address = f"workloads[{plan.workloads[0].id}].transactions{behind}"
    if isinstance(found, int):
        assert [place.path[3] for place in resolve(plan, address)] == [found]
    else:
        with pytest.raises(UserError) as refused:
            resolve(plan, address)
        assert found in refused.value.line


def test_links_and_waivers_are_named_by_what_they_speak_of() -> None:
    ids = [node.id for node in STARTER.data_nodes[:2]]
    plan = edits.put(
        STARTER,
        links=(Link(process_id_1=ids[0], process_id_2=ids[1]),),
        waivers=(Waiver(rule="a", reason="x"), Waiver(rule="a", object_id=ids[0], reason="y")),
    )
    numbers = "/".join(str(plan.by_id[i].node_id) for i in ids)
    assert resolve(plan, f"links[{numbers}].kind")[0].path == ("links", 0, "kind")
    assert resolve(plan, f"waivers[a/{ids[0]}].reason")[0].value == "y"
    assert resolve(plan, "waivers[a].reason")[0].value == "x"


# A parameter or a role alone


def test_a_parameter_alone_is_set_wherever_it_is_stated() -> None:
    node = STARTER.data_nodes[1]
    plan = set_parameter(STARTER, node.id, "RedoBuffer", 2**25)
    after, changes = assign(plan, "redobuffer=64M")
    assert after.parameters.data_node["RedoBuffer"] == 64 * 2**20
    values = {
        n.parameters.get("RedoBuffer", after.parameters.data_node["RedoBuffer"]) for n in after.data_nodes
    }
    assert values == {64 * 2**20}
    assert {c.address for c in changes} == {
        "parameters.data_node.RedoBuffer",
        f"processes[{node.id}].parameters.RedoBuffer",
    }
    back, _ = assign(after, "RedoBuffer=")
    assert "RedoBuffer" not in back.parameters.data_node
    assert all("RedoBuffer" not in n.parameters for n in back.data_nodes)


def test_a_parameter_of_several_kinds_of_node_is_set_for_each() -> None:
    after, _ = assign(STARTER, "TotalSendBufferMemory=16M")
    assert {
        after.parameters.data_node["TotalSendBufferMemory"],
        after.parameters.sql["TotalSendBufferMemory"],
    } == {16 * 2**20}


@pytest.mark.parametrize("role", list(DiskRole))
def test_a_role_alone_is_every_disk_that_carries_it(role: DiskRole) -> None:
    from ndbplan.configuration.directories import disk_for

    for plan in (STARTER, OVERLOAD, TELECOM):
        after, changes = assign(plan, f"{role.value}.disk.write=123MB/s")
        carried = {disk_for(plan, node, role).id for node in plan.data_nodes}  # type: ignore[union-attr]
        assert len(changes) == len(carried)
        for host in after.hosts:
            for disk in host.disks:
                rate = plan.by_id[disk.id].sequential_write_bytes_per_s
                assert disk.sequential_write_bytes_per_s == (123e6 if disk.id in carried else rate)


def test_a_role_alone_goes_to_the_disk_of_that_name_on_each_host() -> None:
    names = {disk.name for host in TELECOM.hosts for disk in host.disks}
    name = sorted(names)[-1]
    after, _ = assign(TELECOM, f"undo={name}")
    for node in after.data_nodes:
        assert after.by_id[node.disk_roles.undo].name == name
        assert after.host_of_disk[node.disk_roles.undo].id == node.host_id
    with pytest.raises(UserError, match="has no disk 'nothing'"):
        assign(TELECOM, "undo=nothing")


# Values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hosts[host-a1].memory_bytes=64 GB", 64 * 10**9),
        ("hosts[host-a1].memory_bytes=64G", 64 * 2**30),
        ("hosts[host-a1].memory_bytes=1.5TiB", 3 * 2**39),
        ("hosts[host-a1].network_bytes_per_s=10 Gbit/s", 1.25e9),
        ("hosts[host-a1].disks[nvme0].sync_write_latency_s=20ms", 0.02),
        ("hosts[host-a1].disks[nvme0].sequential_write_bytes_per_s=200MB/s", 2e8),
        ("hosts[host-a1].disks[nvme0].random_write_iops=10k", 1e4),
        ("hosts[host-a1].disks[nvme0].other_load=7 %", 0.07),
        ("hosts[host-a1].disks[nvme0].other_load=0.07", 0.07),
        ("hosts[host-a1].disks[nvme0].kind=sata-ssd", "sata_ssd"),
        ("hosts[host-a1].location_id=none", None),
        ("hosts[host-a1].location=Rack B", "rack-b"),
        ("tables[*].logging=no", False),
        ("notes=a = b, c", "a = b, c"),
        ("parameters.data_node.RedoBuffer=64M", 64 * 2**20),
        ("parameters.data_node.DataMemory=64 GB", 64 * 10**9),
        ("parameters.data_node.CompressedBackup=yes", 1),
        ("parameters.data_node.TimeBetweenGlobalCheckpoints=2s", 2000),
        ("parameters.data_node.SchedulerSpinTimer=50us", 50),
        ("parameters.data_node.RecoveryWork=70 %", 70),
        ("parameters.data_node.Arbitration=waitexternal", "waitexternal"),
        ("parameters.data_node.RedoBuffer=", None),
    ],
)
def test_values_as_people_write_them(text: str, value: object) -> None:
    after, changes = assign(STARTER, text)
    assert reading.plain(resolve(after, text.split("=")[0].strip())[0].value) == value
    assert changes[0].after == value


@pytest.mark.parametrize(
    ("version", "text", "readings"),
    [
        ("8.4", "MaxNoOfTables=10k", ("10240", "10000")),
        ("8.4", "TimeBetweenGlobalCheckpoints=1M", ("1048576", "60000")),
        ("7.4", "DataMemory=64MB", (str(64 * 2**20), str(64 * 10**6))),
        ("7.4", "DataMemory=0100000000", (str(8**8), str(10**8))),
        ("8.4", "hosts[host-a1].network=10Gb/s", ("10 GB/s", "10 Gbit/s")),
        ("8.4", "hosts[host-a1].memory=1,500 MB", ("1500", "1.500")),
    ],
)
def test_a_value_that_reads_two_ways_is_refused_with_both(
    version: str, text: str, readings: tuple[str, str]
) -> None:
    plan = edits.set_plan(STARTER, ndb_version=version)
    with pytest.raises(UserError, match="reads two ways") as refused:
        assign(plan, text)
    assert all(reading in refused.value.line for reading in readings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "hosts[host-a1].cores=0",
            (
                "hosts[host-a1].cores=0",
                "0 is refused: it must be 1 or more (it is 32)",
            ),
        ),
        ("hosts[host-a1].cores=1.5", ("not a whole number",)),
        ("hosts[host-a1].cores=many", ("many",)),
        ("hosts[host-a1].cores=", ("must",)),
        ("hosts[host-a1].memory=", ("must have a value",)),
        ("hosts[host-a1].hostname=a b", ("host name",)),
        ("hosts[host-a1].disks[nvme0].other_load=25", ("25 %",)),
        ("hosts[host-a1].location=Rak B", ("did you mean Rack B",)),
        ("processes[1].node_id=2", ("used twice",)),
        ("processes[1].kind=sql", ("cannot become another",)),
        ("processes[1].disk_roles.redo=nope", ("has no disk 'nope'",)),
        ("parameters.data_node.DataMemory=1", ("outside the range",)),
        ("parameters.data_node.Arbitration=perhaps", ("WaitExternal",)),
        ("format_version=1", ("sets the format",)),
        ("hosts=[]", ("hosts[*]",)),
        ("ndb_version=5.0", ("6.3 to 9.x",)),
        ("hosts[host-a1].position={", ("not JSON",)),
        ('hosts[host-a1].position={"x": 1}', ("y is missing", "state y")),
        ("name", ("there is no =",)),
    ],
)
def test_what_is_refused_names_place_value_limit_and_what_is_there(text: str, said: tuple[str, ...]) -> None:
    if text == "hosts[host-a1].cores=":
        # It has a default.
        assert assign(STARTER, text)[0].host("host-a1").cores == 8
        return
    with pytest.raises(UserError) as refused:
        assign(STARTER, text)
    for part in said:
        assert part in refused.value.line


def test_the_edits_are_those_of_the_window() -> None:
    table = STARTER.tables[0]
    column = table.primary_key[0]
    after, _ = assign(STARTER, f"tables[{table.id}].columns[{column}].name=key_1")
    assert after.tables[0].primary_key[0] == "key_1"
    node = STARTER.data_nodes[0]
    host = next(host for host in STARTER.hosts if host.id != node.host_id)
    after, _ = assign(STARTER, f"processes[{node.id}].host={host.hostname}")
    moved = after.by_id[node.id]
    assert isinstance(moved, DataNode)
    assert all(after.host_of_disk[d].id == host.id for r in DiskRole if (d := moved.disk_roles.disk_of(r)))
    after, _ = assign(STARTER, f"workloads[{STARTER.workloads[0].id}].load.kind=closed")
    assert isinstance(after.workloads[0].load, ClosedLoad)
    after, _ = assign(STARTER, "hosts[host-a1].id=renamed")
    assert after.host_of_disk[after.host("renamed").disks[0].id].id == "renamed"


def test_what_is_stated_is_no_assumption_any_more() -> None:
    host = STARTER.hosts[0]
    plan = edits.update(STARTER, host.id, assumed=("cores", "clock_ghz"))
    after, _ = assign(plan, f"hosts[{host.id}].cores=48")
    assert after.host(host.id).assumed == ("clock_ghz",)


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
WORDS = """hosts [host-a1] . cores [ ] = " RedoBuffer redo .disk .write tables [*] processes[1] .parameters
workloads .load .points[0] 0 -1 64M 1e999 null {} %"""
PIECES = st.sampled_from([*WORDS.split(), " "])
UNITS = st.sampled_from(["k", "M", "G", " GB", "ms", "%", " Gbit/s", "T", "d"])


@given(st.lists(PIECES | TEXTS, max_size=8).map("".join), TEXTS | PIECES)
def test_whatever_is_typed_is_set_or_refused_in_one_line(address: str, value: str) -> None:
    after = tried(OVERLOAD, f"{address}={value}")
    if isinstance(after, str):
        assert after
        assert "\n" not in after
    else:
        assert loads(dumps(after)) == after


@given(st.data())
def test_whatever_is_typed_into_a_field_is_set_or_refused(data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(list(fields(OVERLOAD))))
    text = data.draw(
        TEXTS
        | st.integers(-(2**70), 2**70).map(str)
        | st.floats().map(repr)
        | st.tuples(
            st.integers(0, 10**6), st.sampled_from(["k", "M", "G", " GB", "ms", "%", " Gbit/s", "T", "d"])
        ).map(lambda pair: f"{pair[0]}{pair[1]}")
    )
    text = f"{place.address(OVERLOAD)}={text}"
    after = tried(OVERLOAD, text)
    if isinstance(after, str):
        assert "\n" not in after
        return
    assert loads(dumps(after)) == after
    if place.path[-1] not in ("id", "at_s", "name", "kind", "constant", "rule"):
        # What is in the address of the field may have changed with it.
        assert tried(after, text) == after


def test_an_empty_plan_has_addresses_too() -> None:
    assert resolve(EMPTY_PLAN, "RedoBuffer")
    for text in ("hosts[*].cores=1", "redo.disk.write=1MB/s", "hosts[a].cores=1"):
        with pytest.raises(UserError):
            assign(EMPTY_PLAN, text)
    assert not [p for p in walk(EMPTY_PLAN) if isinstance(p.value, Part) and p.path != ("parameters",)]
    assert len(list(itertools.islice(fields(EMPTY_PLAN), 5))) == 5


@pytest.mark.parametrize("name", ['x"y', '"x"', "a]b", '"]', " x "])
def test_any_name_can_be_written_in_quotes(name: str) -> None:
    plan = edits.update(sample_plan("starter"), "day", name=name)
    (place,) = resolve(plan, f"workloads[{json.dumps(name)}].duration_s")
    assert at(plan, place.path) == plan.workload("day").duration_s
    with pytest.raises(AddressError, match=r"a quote inside is written"):
        resolve(plan, 'workloads["x""y"].duration_s')
