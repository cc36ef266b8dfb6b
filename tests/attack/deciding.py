"""Laws of deciding, on drawn plans: what is ranked, compared, swept and sized agrees with what is asked
directly.

    python tests/attack/deciding.py --laws first-row,swapped --plans 6 --seed 7

first-row   no legal single change that is tried by itself beats the first row of what matters, for any aim;
            the arguments of a row give the plan with the number that it tells
swapped     two plans are judged the other way round when they change places; a third changes no judgement
same        a plan that is written and read again shows no difference
cells       a cell of a sweep is the plan called directly
sized       the best answer of sizing is the cheapest cluster that brute force finds over a small catalogue,
            and no choice more makes it dearer
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from advise.small_requirements import BEGUN, asked_for, classes_of, clients_of, own_host, sized_for
from attack.previews import fresh
from ndbplan.advise.candidates import single_changes
from ndbplan.advise.compare import Comparison, Judgement, compare
from ndbplan.advise.cost import cost_of
from ndbplan.advise.figures import FIGURES, Figure
from ndbplan.advise.highest_rate import PRECISION
from ndbplan.advise.sizing.build import Builder
from ndbplan.advise.sizing.limits import Judge
from ndbplan.advise.sweep import Sweep, vary
from ndbplan.advise.what_matters import what_matters
from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value
from ndbplan.checks.harm import harm
from ndbplan.checks.run import find
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import Plan
from random_plans import random_plan
from walked_plans import stepped, walked_plan

AIMS = (
    "restart", "memory", "cost", "survive", "disk-space", "system-restart", "backup", "errors", "redo-time",
    "first-error", "latency", "load-left", "max-load",
)  # fmt: skip
DEAR = ("first-error", "latency", "max-load", "load-left", "accepted")
"""Aims for which so many changes are tried by themselves, drawn; all of the others."""
_DEAR_TRIED = 60
_SWEPT = (
    "RedoBuffer=16M,32M,128M", "DataMemory=2G..40G:3", "hosts[*].cores=4,16,64", "NoOfReplicas=1,2,3",
    "hosts[*].memory=16GiB,256GiB", "hosts[*].network=1.25e8,1.25e9", "TimeBetweenLocalCheckpoints=6,20",
    "NoOfFragmentLogFiles=4..64:3", "hosts[*].disks[*].write=50MB/s,500MB/s",
    "MaxNoOfExecutionThreads=4,8,24", "ndb_version=7.6,8.0,8.4", "redo.disk.write=30..90MB/s:3",
    "backups_kept=0,2", "RecoveryWork=30,60",
)  # fmt: skip
_OPPOSITE = {Judgement.BETTER: Judgement.WORSE, Judgement.WORSE: Judgement.BETTER}


def plan_of(seed: int) -> Plan:
    """Three walked plans, then a random one; every fourth states prices."""
    plan = random_plan(seed) if seed % 4 == 3 else walked_plan(seed)
    if seed % 4 == 1:
        for host in plan.hosts:
            plan = edits.update(plan, host.id, purchase_price=9000.0)
            for disk in host.disks:
                plan = edits.update(plan, disk.id, purchase_price=700.0)
        plan = plan.replace(currency="EUR")
    return plan


def _now(plan: Plan) -> Estimation:
    return Estimation(plan, chosen_workload(plan))


def first_row(seed: int) -> Iterator[str]:
    """Every aim in turn: one for each seed."""
    plan, name = plan_of(seed), AIMS[seed % len(AIMS)]
    yield from beaten(plan, name, Random(seed))


def beaten(plan: Plan, name: str, random: Random) -> Iterator[str]:
    """Changes that beat the first row of what matters, and rows whose arguments give another number."""
    figure = FIGURES[name]
    try:
        ranked = what_matters(_now(plan), figure, top=10**6)
    except UserError:
        return
    best = max((row.gain for row in ranked.changes), default=0.0)
    problems, before, tried = find(plan), fresh(plan, name), 0
    changes = list(single_changes(plan))
    if name in DEAR:
        changes = random.sample(changes, min(_DEAR_TRIED, len(changes)))
    with keeping():
        for change in changes:
            try:
                after = change.edit(plan)
                number = figure.of(_now(after)) if value_changes(plan, after) else before
            except UserError:
                continue
            tried += 1
            gain = _gain(figure, before, number)
            known = before.value if isinstance(before, Quantity) else 0.0
            room = (2 * PRECISION if name == "max-load" else 1e-9) * abs(known)
            if gain > best + room and not harm(problems, find(after), anywhere=True):
                yield f"{change.title} brings {number}, the first row gains {best} from {before}"
    for row in ranked.changes[:3]:
        if row.set is None:
            continue
        then = plan
        for text in row.set:
            then = assign(then, text)[0]
        if fresh(then, name) != row.after:
            yield f"set {row.set} gives {fresh(then, name)}, the row says {row.after}"
    COUNTED["changes tried"] = COUNTED.get("changes tried", 0) + tried


COUNTED: dict[str, int] = {}


def _gain(figure: Figure, before: Any, after: Any) -> float:
    """As what matters counts it: what reads the same gains nothing."""
    none = {True: float("inf"), False: float("-inf")}[figure.none_is_best]
    if not isinstance(before, Quantity):
        return 0.0
    if after is None:
        return none
    if format_value(before.value, before.unit) == format_value(after.value, after.unit):
        return 0.0
    return float((after.value - before.value) * (1 if figure.better == "higher" else -1))


def _compared(*plans: Plan) -> Comparison:
    return compare([(str(n), _now(plan)) for n, plan in enumerate(plans)], worlds=8)


def swapped(seed: int) -> Iterator[str]:
    """A plan and one near to it, or a far one, and a third."""
    random, one = Random(seed), plan_of(seed)
    two = (stepped(one, random) if seed % 3 else None) or walked_plan(seed + 5000)
    there, back = _compared(one, two), _compared(two, one)
    for row, other in zip(there.rows, back.rows, strict=True):
        judged = row.judged[1]
        if (_OPPOSITE.get(judged, judged) if judged else None) != other.judged[
            1
        ] or row.values != other.values[::-1]:
            yield f"{row.figure}: {row.judged} {row.values}, swapped {other.judged} {other.values}"
        if sorted(1 - place for place in row.winners) != sorted(other.winners):
            yield f"{row.figure}: winners {row.winners}, swapped {other.winners}"
    # A part with another node id in each is called as in the first.
    told = sorted((one.name, one.kind, *map(str, one.values)) for one in there.differences)
    if told != sorted((one.name, one.kind, *map(str, one.values[::-1])) for one in back.differences):
        yield "the differences are others when swapped"
    third = _compared(one, two, walked_plan(seed + 9000))
    for row, other in zip(there.rows, third.rows, strict=True):
        if (row.judged, row.values) != (other.judged[:2], other.values[:2]):
            yield f"{row.figure}: {row.judged}, beside a third {other.judged}"


def same(seed: int) -> Iterator[str]:
    """A plan and itself, written and read, under another name."""
    plan = plan_of(seed)
    found = _compared(plan, loads(dumps(plan)).replace(name="the same"))
    yield from (one.where for one in found.differences if one.name != "name")
    for row in found.rows:
        if row.values[0] != row.values[1] or row.judged[1] not in (None, Judgement.WITHIN) or row.winners:
            yield f"{row.figure}: {row.values} {row.judged} {row.winners}"


def cells(seed: int) -> Iterator[str]:
    """Two inputs and three figures, in a grid and each alone."""
    plan, random = plan_of(seed), Random(seed)
    varied = []
    for text in random.sample(_SWEPT, len(_SWEPT)):
        try:
            varied.append(vary(plan, text))
        except UserError:
            continue
    names = tuple(random.sample([name for name in FIGURES if name != "cost-per-load"], 3))
    for alone in (False, True):
        try:
            sweep = Sweep(plan, tuple(varied[:2]), names, alone=alone)
        except UserError:
            return
        for row in sweep.rows():
            then = plan
            try:
                for one, value in zip(sweep.varied, sweep.cells[row.number], strict=True):
                    then = assign(then, f"{one.address}={value}")[0]
            except UserError:
                if row.figures != (None,) * 3:
                    yield f"cell {sweep.cells[row.number]} cannot be set and has figures"
                continue
            for name, three in zip(names, row.figures, strict=True):
                COUNTED["figures of cells"] = COUNTED.get("figures of cells", 0) + 1
                run = fresh(then, name)
                ends = (run.value, run.low, run.high) if isinstance(run, Quantity) else None
                if ends != three:
                    yield f"{sweep.cells[row.number]}: {name} is {ends} when called, {three} in the sweep"


def sized(seed: int) -> Iterator[str]:
    """Three classes of hosts, up to three node groups, one or two data nodes on a host."""
    random = Random(seed)
    own = [
        own_host(
            f"h{n}", random.choice((4, 8, 16, 32)), random.choice((16, 32, 64, 256)),
            random.choice((1500, 2500, 4000, 9000)),
        )
        for n in range(3)
    ]  # fmt: skip
    survive = random.sample(("host", "rack"), random.choice((0, 1)))
    wanted = asked_for(
        rows={"d.account": {"now": random.choice(("5M", "90M", "270M")), "growth_per_month": "1M"}},
        loads=[{**BEGUN["loads"][0], "peak_per_s": random.choice(("200", "2k", "30k"))}],
        headroom=random.choice((0, 0.2, 1)),
        survive=survive,
        carry_peak=bool(survive) and random.random() < 0.5,
        within={"restart": random.choice(("2min", "10min", "3h"))},
        most_groups=3,
        hardware={**BEGUN["hardware"], "hosts": [one["name"] for one in own], "own": own,
                  "clients": random.choice(own)["name"], "nodes_per_host": [1, 2]},
    )  # fmt: skip
    found, classes = sized_for(wanted), classes_of(wanted)
    judge = Judge(wanted.requirements, Builder(wanted.begun, clients_of(wanted)))
    least: dict[str, float] = {}
    for choice, nodes, groups in product(classes, (1, 2), range(1, 4)):
        if groups % nodes:
            continue
        verdict = judge.verdict(choice.with_nodes(nodes), groups)
        cost = None if verdict.broken or verdict.plan is None else cost_of(verdict.plan).total
        if cost is not None:
            least[choice.title] = min(cost.value, least.get(choice.title, float("inf")))
    told = {one.title.partition(": ")[2].partition(";")[0].partition(", ")[0]: one.cost.value
            for one in reversed(found.plans) if one.cost is not None}  # fmt: skip
    best = found.plans[0].cost if found.plans else None
    if (None if best is None else best.value) != min(least.values(), default=None):
        yield f"the best costs {best}, brute force finds {least}"
    COUNTED["feasible" if least else "infeasible"] = COUNTED.get("feasible" if least else "infeasible", 0) + 1
    for title, cost in least.items():
        if title.partition(", ")[0] in told and told[title.partition(", ")[0]] != cost:
            yield f"{title} costs {told}, brute force finds {cost}"
    if not found.plans and len(found.excuses) < len(classes):
        yield f"{len(found.excuses)} excuses of {len(classes)} classes"
    for choice in classes:
        fewer = sized_for(wanted, tuple(one for one in classes if one is not choice)).plans
        if fewer and (best is None or fewer[0].cost is None or fewer[0].cost.value < best.value):
            yield f"without {choice.title} the best costs {fewer[0].cost}, with it {best}"


LAWS: dict[str, Callable[[int], Iterator[str]]] = {
    "first-row": first_row, "swapped": swapped, "same": same, "cells": cells,
    "sized": sized,
}  # fmt: skip


def main() -> int:
    """Hold each law on so many plans, or for so long; tell what breaks it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--laws", default=",".join(LAWS))
    parser.add_argument("--plans", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    given, wrong = parser.parse_args(), 0
    for name in given.laws.split(","):
        began, done = monotonic(), 0
        for seed in islice(range(1000 * given.seed, 1000 * given.seed + 1000), given.plans):
            if monotonic() - began > given.seconds:
                break
            for text in LAWS[name](seed):
                wrong += 1
                print(f"{name}, seed {seed}: {text}", flush=True)
            done += 1
        print(f"{name}: {done} plans", flush=True)
    print(f"{wrong} broken; {COUNTED}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
