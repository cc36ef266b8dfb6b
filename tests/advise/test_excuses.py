"""What an excuse asks for, typed in as it is told, lets its class pass; with a step less it does not."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest

from advise.small_requirements import BEGUN, GIB, SMALL, asked_for, own_host, sized_for
from ndbplan.advise.sizing.search import Sized
from ndbplan.base.units import parse_bytes, parse_duration_s


def _drawn(seed: int) -> dict[str, Any]:
    """Requirements of which some class of hosts breaks several, on few node groups."""
    random = Random(seed)
    rows = {"now": random.choice(["60M", "270M", "900M"]), "growth_per_month": random.choice(["0", "10M"])}
    times = ["restart", "initial_restart", "system_restart", "rolling_restart", "reorganise", "backup"]
    return {
        "rows": {"d.account": rows},
        "loads": [{**BEGUN["loads"][0], "peak_per_s": random.choice(["500", "20k", "400k"])}],
        "months": random.choice([0, 24]),
        "headroom": random.choice([0, 0.2, 0.5]),
        "replicas": random.choice([1, 2]),
        "survive": random.sample(["host", "rack", "link"], random.choice([0, 1, 2])),
        "carry_peak": random.random() < 0.5,
        "within": {name: random.choice(["20s", "1min", "1h"]) for name in random.sample(times, 2)},
        "budget": random.choice([None, 5000.0, 60_000.0]),
        "ndb_version": random.choice(["7.6.20", "8.0.30", "8.4.8"]),
        "most_groups": random.choice([1, 2]),
    }


def _drawn_widely(seed: int) -> dict[str, Any]:
    """One class of hosts, on old versions, with more replicas, slow links, no prices, a load job."""
    random, stated = Random(seed), _drawn(seed)
    host = own_host("host", 8, 32, 2000)
    host["host"]["network_bytes_per_s"] = random.choice([1.25e6, 1.25e7, 1.25e9])
    if random.random() < 0.25:
        del host["host"]["purchase_price"]
    kind, rows = random.choice(["update", "insert", "read", "scan"]), random.choice([1, 20])
    operation = {"table": "d.account", "kind": kind, "rows": rows}
    peak = random.choice(["50", "2k", "600k"])
    load = {"peak_per_s": peak, "transactions": [{"name": "pay", "operations": [operation]}]}
    if random.random() < 0.3:
        stated["job"] = {"within": random.choice(["10min", "3h"])}
    return {
        **stated,
        "ndb_version": random.choice(["7.4.10", "7.6.20", "8.0.17", "8.0.30", "9.1.0"]),
        "replicas": random.choice([1, 2, 3, 4]),
        "loads": [{**BEGUN["loads"][0], **load, "through": random.choice(["sql", "api"])}],
        "durability": {
            "time_between_global_checkpoints_ms": random.choice([None, 20, 8000]),
            "all_tables_logged": random.random() < 0.7,
        },
        "hardware": {**BEGUN["hardware"], "hosts": ["host"], "own": [host, SMALL], "nodes_per_host": [1]},
    }


def _with(stated: dict[str, Any], title: str, changes: list[str], less: int | None) -> dict[str, Any]:
    """The requirements of one class after what an excuse says, of one part of it a step less."""
    changed = deepcopy(stated)
    name = title.partition(",")[0]
    shared = re.search(r"(\d+) data nodes on each", title)
    own = {one["name"]: one for one in stated.get("hardware", BEGUN["hardware"])["own"]}
    host = deepcopy(own[name])
    for number, text in enumerate(changes):
        _type(changed, host, text, 1 if number == less else 0)
    changed["hardware"] = {
        **BEGUN["hardware"],
        "hosts": [name],
        "own": [host, {**deepcopy(SMALL), "name": "client"}],
        "clients": "client",
        "nodes_per_host": [int(shared[1]) if shared else 1],
    }
    return changed


def _type(stated: dict[str, Any], host: dict[str, Any], text: str, less: int) -> None:
    text = text.replace("\u2009", "").removesuffix(" at the same price")
    if found := re.fullmatch(r"the load job within (.+)", text):
        limit_s = parse_duration_s(found[1])
        stated["job"]["within"] = limit_s - less * (60 if limit_s > 3600 else 1)
    elif found := re.fullmatch(r"([a-z ]+) within (.+)", text):
        limit_s = parse_duration_s(found[2])
        # Hours are told with minutes.
        stated["within"][found[1].replace(" ", "_")] = limit_s - less * (60 if limit_s > 3600 else 1)
    elif found := re.fullmatch(r"no limit of (.+)", text):
        del stated["within"][found[1].replace(" ", "_")]
    elif found := re.fullmatch(r"NDB ([\d.]+)", text):
        stated["ndb_version"] = found[1]
    elif text == "no budget, as long as prices are not stated":
        stated["budget"] = None
    elif found := re.fullmatch(r"links of (.+)/s", text):
        host["host"]["network_bytes_per_s"] = parse_bytes(found[1]) * (1 - 0.02 * less)
    elif found := re.fullmatch(r"a budget of (\d+) EUR", text):
        stated["budget"] = float(found[1]) - less
    elif found := re.fullmatch(r"no (host|rack|link) that may fail", text):
        stated["survive"] = [one for one in stated["survive"] if one != found[1]]
    elif found := re.fullmatch(r"peaks of 'pay' ([\d.]+) tx/s", text):
        stated["loads"][0]["peak_per_s"] = float(found[1]) * (1 + 0.01 * less)
    elif found := re.fullmatch(r"(.+) of memory a host", text):
        host["host"]["memory_bytes"] = parse_bytes(found[1]) - less * GIB
    elif found := re.fullmatch(r"(\d+) cores a host", text):
        host["host"]["cores"] = int(found[1]) - less
    elif found := re.fullmatch(r"disks of (.+)", text):
        host["disks"][0]["capacity_bytes"] = parse_bytes(found[1]) * (1 - 0.02 * less)
    else:
        found = re.fullmatch(r"disks that write (.+)/s", text)
        assert found is not None, text
        times = parse_bytes(found[1]) / host["disks"][0]["sequential_write_bytes_per_s"] * (1 - 0.02 * less)
        for name in ("sequential_write_bytes_per_s", "random_read_iops", "random_write_iops"):
            host["disks"][0][name] *= times


def _sized(stated: dict[str, Any], groups: int) -> Sized:
    return sized_for(asked_for(**{**stated, "least_groups": groups, "most_groups": groups}))


@pytest.mark.parametrize(
    "stated",
    [*map(_drawn, range(6)), *map(_drawn_widely, (*range(4), 17))],
    ids=lambda stated: stated["ndb_version"],
)
def test_what_an_excuse_says_lets_its_class_pass_and_a_step_less_does_not(stated: dict[str, Any]) -> None:
    for excuse in sized_for(asked_for(**stated)).excuses:
        assert excuse.change is not None, excuse.first_limit
        changes = excuse.change.split(" and ")
        assert _sized(_with(stated, excuse.title, changes, None), excuse.node_groups).plans, excuse.remedy
        for less, change in enumerate(changes):
            if not change.startswith(("no ", "NDB ")):
                smaller = _with(stated, excuse.title, changes, less)
                assert not _sized(smaller, excuse.node_groups).plans, f"{change} of {excuse.remedy}"


def test_drawn_requirements_are_broken_in_several_ways() -> None:
    found = [excuse for seed in range(6) for excuse in sized_for(asked_for(**_drawn(seed))).excuses]
    changes = " and ".join(one.change or "" for one in found)
    for word in ("GiB of memory", "disks of", "peaks of", "within", "a budget of", "may fail"):
        assert word in changes


def _smaller(text: str, own: dict[str, Any]) -> Iterator[str]:
    """All smaller changes of memory and cores in whole steps; of what is continuous some near and far."""
    told, end = text.replace("\u2009", "").removesuffix(" at the same price"), text.partition(" at ")[1:]
    if found := re.fullmatch(r"(.+) of memory a host", told):
        least, most = own["memory_bytes"] // GIB, math.ceil(parse_bytes(found[1]) / GIB)
        yield from (f"{size} GiB of memory a host{''.join(end)}" for size in range(least, most))
    elif found := re.fullmatch(r"(\d+) cores a host", told):
        yield from (f"{cores} cores a host" for cores in range(own["cores"], int(found[1])))
    elif found := re.fullmatch(r"(the load job|[a-z ]+) within (.+)", told):
        limit_s = parse_duration_s(found[2]) - (60 if parse_duration_s(found[2]) > 3600 else 1)
        yield from (f"{found[1]} within {limit_s * share:.0f} s" for share in _SHARES)
    elif found := re.fullmatch(r"peaks of 'pay' ([\d.]+) tx/s", told):
        yield from (f"peaks of 'pay' {1.01 * float(found[1]) / share:.1f} tx/s" for share in _SHARES)


_SHARES = (1.0, 0.97, 0.9, 0.7, 0.4, 0.1)


@pytest.mark.parametrize(
    "stated",
    [
        _drawn(2),
        _drawn(4),
        _drawn_widely(1),
        _drawn_widely(3),
        {
            "rows": {"d.account": {"now": "40M"}},
            "loads": [{**BEGUN["loads"][0], "peak_per_s": "250k"}],
            "most_groups": 1,
        },
    ],
    ids=["times", "memory", "initial restart", "links and peaks", "cores"],
)
def test_no_smaller_change_than_an_excuse_says_lets_its_class_pass(stated: dict[str, Any]) -> None:
    """By brute force: more may take longer, and steps of parameters come in where a limit is lower."""
    own = {one["name"]: one["host"] for one in stated.get("hardware", BEGUN["hardware"])["own"]}
    tried = 0
    for excuse in sized_for(asked_for(**stated)).excuses:
        assert excuse.change is not None, excuse.line
        changes = excuse.change.split(" and ")
        for place, change in enumerate(changes):
            for smaller in _smaller(change, own[excuse.title.partition(",")[0]]):
                others = [*changes[:place], smaller, *changes[place + 1 :]]
                tried += 1
                found = _sized(_with(stated, excuse.title, others, None), excuse.node_groups)
                assert not found.plans, f"{smaller} of {excuse.remedy}"
    assert tried > 5


def test_an_excuse_without_a_change_says_what_stands_against_it() -> None:
    """A transaction of more operations than there are records is refused at any rate, on any hosts.

    A peak of 0.02 tx/s was told to pass: in its 20 seconds none was sent.
    """
    load = deepcopy(BEGUN["loads"][0]) | {"peak_per_s": "20"}
    load["transactions"][0]["operations"][0]["rows"] = 200_000
    stated = {"rows": {"d.account": {"now": "20M"}}, "loads": [load], "most_groups": 1}
    told = sized_for(asked_for(**stated, ndb_version="7.6.20")).excuses[0]
    assert told.change is None
    assert told.against.startswith("with peaks of 'pay'")
    assert "error" in told.against
    assert told.line.endswith(told.against)
