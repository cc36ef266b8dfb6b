"""What the canvas is coloured by: the numbers of the commands, for every object, told without colours."""

from __future__ import annotations

import pytest

from ndbplan.advise.candidates import single_changes
from ndbplan.advise.cost import cost_by_part, cost_of
from ndbplan.advise.doubling import doublings
from ndbplan.advise.max_load import max_load
from ndbplan.advise.survival import survive
from ndbplan.base.errors import Cancelled
from ndbplan.checks.run import check
from ndbplan.describe.colouring import HATCHED, WAYS, Known, Tone, colour_by, disks_written
from ndbplan.describe.estimated import loads_of
from ndbplan.describe.losses import judged_losses, losses_of
from ndbplan.describe.overlay import percent, worst_use
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


@pytest.fixture(scope="module")
def now() -> Estimation:
    plan = sample_plan("redo-overload")
    return Estimation(plan, chosen_workload(plan))


def known(now: Estimation, other: Plan | None = None) -> Known:
    problems = tuple(check(now.plan))
    losses = losses_of(now.plan, survive(now))
    against = None if other is None else ("Main", other)
    loads = loads_of(now.plan, now, problems)
    return Known(
        now.plan, loads, problems, losses, disks_written(now.plan), against, doublings=doublings(now)
    )


def priced(plan: Plan) -> Plan:
    plan = edits.set_plan(plan, currency="EUR", price_per_kwh=0.25)
    host = plan.hosts[0]
    plan = edits.update(plan, host.id, purchase_price=9000.0, watts=400.0)
    plan = edits.update(plan, host.disks[0].id, monthly_price=20.0)
    return edits.update(plan, plan.data_nodes[0].id, licence_per_month=300.0)


def test_shares_are_those_that_estimate_prints(now: Estimation) -> None:
    printed = now.to_json()
    hosts = {host.hostname: host.id for host in now.plan.hosts}
    all_known = known(now)
    for way, part in (("cpu", "cpu"), ("network", "network")):
        shades = colour_by(way, all_known).shades
        for row in printed[part]["hosts"]:
            assert shades[hosts[row["host"]]].text == percent(row["utilisation"]["value"])
    disks = {(h.hostname, d.name): d.id for h in now.plan.hosts for d in h.disks}
    for way, part, value in (("disk", "disks", "utilisation"), ("space", "disk_space", "fill")):
        shades = colour_by(way, all_known).shades
        for row in printed[part]["disks"]:
            assert shades[disks[row["host"], row["disk"]]].text == percent(row[value]["value"])
        for host in now.plan.hosts:
            on_it = [r[value]["value"] for r in printed[part]["disks"] if r["host"] == host.hostname]
            assert (shades[host.id].text if on_it else None) == (percent(max(on_it)) if on_it else None)
    fills = {n["node_id"]: n for n in printed["memory"]["nodes"]}
    shades = colour_by("memory", all_known).shades
    for node in now.plan.data_nodes:
        row = fills[node.node_id]
        share = row["data_memory_bytes"]["value"] / row["data_memory_limit_bytes"]
        assert shades[node.id].text == percent(share)


def test_costs_of_hosts_and_locations_are_the_total(now: Estimation) -> None:
    plan = priced(now.plan)
    total = cost_of(plan).total
    assert total is not None
    assert sum(cost_by_part(plan).values()) == pytest.approx(total.value)
    found = colour_by("cost", Known(plan))
    assert found.shades[plan.hosts[0].id].tone is Tone.MOST
    assert found.note == f"{len(plan.hosts) - 1} hosts without a price"
    assert not colour_by("cost", Known(now.plan)).shades
    assert "No price is stated" in colour_by("cost", Known(now.plan)).note


def test_a_doubling_brings_what_the_highest_load_says() -> None:
    plan = assign(sample_plan("redo-overload-8.4"), "redo.disk.write=20MB/s")[0]
    now = Estimation(plan, chosen_workload(plan))
    found = doublings(now)
    disk = disks_written(plan)[plan.data_nodes[0].id][0]
    change = next(one for one in single_changes(plan) if one.title == found[disk].title)
    before, after = (max_load(now.of(one), with_next=False).max_per_s for one in (plan, change.edit(plan)))
    assert found[disk].gain == (after.value - before.value) / before.value > 0
    shades = colour_by("doubling", Known(plan, doublings=found)).shades
    host = plan.host_of_disk[disk]
    assert shades[disk].text == shades[host.id].text == f"+{percent(found[disk].gain)}"
    raised = next(tone for least, tone in ((0.5, Tone.MOST), (0.1, Tone.MORE)) if found[disk].gain >= least)
    assert {shade.tone for shade in shades.values()} == {Tone.PLAIN, raised}
    with pytest.raises(Cancelled):
        doublings(now, lambda: True)


def test_twice_the_connections_are_shown_where_they_limit() -> None:
    """Nothing was said to bring anything: neither hosts nor disks limit the load of the sample."""
    plan = sample_plan("starter")
    found = doublings(Estimation(plan, chosen_workload(plan)))
    shades = colour_by("doubling", Known(plan, doublings=found)).shades
    for node in plan.sql_nodes:
        assert shades[node.id].text == shades[node.host_id].text != "nothing"
        assert "2 cluster connections" in shades[node.id].why
    data = plan.data_nodes[0]
    assert shades[data.host_id].text == "nothing"


def test_changes_against_a_variant_are_told_on_the_object_and_its_host(now: Estimation) -> None:
    main = now.plan
    node, disk = main.data_nodes[0], main.hosts[1].disks[0]
    plan = edits.update(main, main.hosts[0].id, memory_bytes=2 * main.hosts[0].memory_bytes)
    plan = edits.update(plan, disk.id, capacity_bytes=2 * disk.capacity_bytes)
    plan = set_parameter(plan, "data_node", "RedoBuffer", 64 * 2**20)
    shades = colour_by("change", Known(plan, against=("Main", main))).shades
    assert shades[node.id] == (Tone.CHANGED, "RedoBuffer", shades[node.id].why, 0)
    assert shades[disk.id].text == "Capacity"
    assert shades[main.hosts[1].id].text == "2 changes"
    assert shades[main.hosts[2].id].text == "same"
    grown = colour_by("change", Known(main, against=("Small", edits.remove(main, [main.hosts[2].id]))))
    assert grown.shades[main.hosts[2].id].text == "new"
    gone = colour_by("change", Known(edits.remove(main, [main.hosts[2].id]), against=("Main", main)))
    assert gone.note.endswith("only in Main")


@pytest.mark.parametrize("name", WAYS)
def test_every_way_says_each_shade_in_words_and_in_its_legend(now: Estimation, name: str) -> None:
    plan = priced(now.plan)
    found = colour_by(name, known(now.of(plan), now.plan))
    assert found.shades.keys() <= plan.by_id.keys()
    assert {host.id for host in plan.hosts} & found.shades.keys()
    keys = [(entry.tone, entry.number) for entry in found.legend]
    assert len(keys) == len(set(keys))
    for shade in found.shades.values():
        assert shade.text
        assert (shade.tone, shade.number) in keys
    counted = [i for entry in found.legend for i in entry.ids]
    assert len(counted) == len(set(counted))


@pytest.mark.parametrize("name", WAYS)
def test_an_empty_plan_has_no_shade_and_says_so(name: str) -> None:
    found = colour_by(name, Known(Plan()))
    assert (dict(found.shades), found.legend) == ({}, ())
    assert found.note or name == "problem"


def test_what_is_near_a_limit_is_hatched_and_more_so_at_it() -> None:
    assert HATCHED[Tone.NEAR] < HATCHED[Tone.OVER]
    assert not HATCHED.keys() & {Tone.LOW, Tone.SOME, Tone.MUCH}


def test_the_worst_use_of_a_host_is_the_largest_of_all(now: Estimation) -> None:
    loads = known(now).loads
    host = now.plan.hosts[0]
    worst = worst_use(loads, host)
    assert worst is not None
    shares = [table[host.id] for table in (loads.cpu, loads.memory, loads.network) if host.id in table]
    shares += [t[disk.id] for disk in host.disks for t in (loads.disks, loads.space) if disk.id in t]
    assert worst.share == max(shares)
    assert worst.what == host.disks[1].name


def test_losses_alone_are_those_of_all_failures() -> None:
    plan = sample_plan("starter")
    assert judged_losses(plan) == losses_of(plan, survive(Estimation(plan, chosen_workload(plan))))


def test_a_data_node_is_as_the_worst_disk_that_it_writes_to(now: Estimation) -> None:
    shades = colour_by("disk", known(now)).shades
    node, disk = now.plan.data_nodes[0], now.plan.hosts[0].disks[1]
    assert shades[node.id].text == shades[disk.id].text
