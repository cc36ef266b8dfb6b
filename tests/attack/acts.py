"""Exported runbooks acted out in full: every part of every sample, broken off, and once more.

    python tests/attack/acts.py --breaks 20 --seconds 600 --seed 1 --samples starter,disk-data --versions 8.4

Each part of the life of a cluster runs to its end, is taken up where it was broken off behind commands of its
own, and runs a second time as a whole; so does every kind of change of a plan. `--breaks all`: behind every
single command that changes something. `--drawn N`: so many changes that are drawn, instead; `--plans N`: the
whole life of so many plans that nobody designed and ndb_mgmd takes. The laws are those of
tests/exporting/acted_life.py. Where nothing is broken off it is also held against the stated times, which
hold what a part takes four times of five.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from exporting.acted_changes import (
    changes,
    with_init_scripts,
    with_linked_redo,
    with_management_nodes,
    with_reserved_nodes,
    with_second_sql_nodes,
)
from exporting.acted_drawn import drawn_change, is_refused
from exporting.acted_life import LATE_OR_EARLY, Life
from ndbplan.base.resources import resource_path
from ndbplan.configuration.needs import CannotChangeError
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parts import set_plan
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from random_plans import random_plan

VARIED = {
    "starter-linked-redo": with_linked_redo,
    "starter-init-scripts": with_init_scripts,
    "starter-reserved": with_reserved_nodes,
}
SAMPLES = [*sorted(path.stem for path in resource_path("samples").glob("*.ndbplan")), *VARIED]
VERSIONS = ("7.4", "8.0", "8.4")
DRAWN_FROM = ("starter", "disk-data", "disk-data-8.4", "add-nodes-8.4", "redo-overload")


class Acts:
    """What is acted out, and what was seen."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.began = time.monotonic()
        self.runs = self.joined = self.commands = self.faults = self.timed = self.outside = 0
        self.breaks = None if given.breaks == "all" else int(given.breaks)

    @property
    def is_late(self) -> bool:
        """Whether there is no time left."""
        return time.monotonic() - self.began > self.given.seconds

    def life(self, name: str, make: Callable[[Path], Life], parts: list[str]) -> None:
        """Some parts of one life (none: all), and what went wrong."""
        runs = 0
        with TemporaryDirectory(prefix="acted-") as place:
            try:
                life = make(Path(place) / "life")
            except CannotChangeError as why:
                print(f"{name}: {why.what}", flush=True)
                return
            life.breaks_on = life.one_host_of_each_kind() if self.given.kinds else None
            for part, host in (
                life.parts() if not parts else [(one, "") for one in parts if one in life.operations]
            ):
                # A part that was left out would be missing for those behind it.
                breaks = self.breaks if not self.given.parts or part in self.given.parts else 0
                for fault in life.act(part, breaks, host):
                    if LATE_OR_EARLY in fault:
                        print(f"{name}: {fault}", flush=True)
                        continue
                    self.faults += 1
                    print(f"FAULT {name}: {fault[:3000]}", flush=True)
                if self.is_late:
                    break
            runs = life.runs
            self.timed += len(life.took)
            self.outside += sum(not q.low <= acted_s <= q.high for acted_s, q in life.took.values())
            self.joined += life.joined
            self.commands += life.breaks
        self.runs += runs
        behind = f" behind {life.breaks} commands" if self.breaks is None else ""
        print(f"{name}: {runs} runs{behind}, {time.monotonic() - self.began:.0f} s", flush=True)


def act_drawn(acts: Acts, number: int, seed: int) -> None:
    """So many drawn changes, each of a cluster with one node group or two."""
    for one in range(number):
        drawn = random.Random(seed + one)
        before = set_plan(sample_plan(drawn.choice(DRAWN_FROM)), ndb_version=drawn.choice(VERSIONS))
        if drawn.random() < 0.3:
            before = add_node_group(before)
        if drawn.random() < 0.3:
            before = with_second_sql_nodes(before)
        words, after = drawn_change(before, drawn)
        acts.life(
            f"{seed + one}: {before.name} {before.ndb_version}, {len(before.data_nodes)} data nodes, {words}",
            lambda place, a=before, b=after, seed=seed + one: Life.of_change(a, b, place, seed),
            ["change"],
        )
        if acts.is_late:
            return


def act_plans(acts: Acts, number: int, seed: int) -> None:
    """The lives of plans that nobody designed, less those that are refused or have no node group to start."""
    for one in range(seed, seed + number):
        plan = random_plan(one)
        if plan.management_nodes and node_groups(plan) and not is_refused(plan):
            nodes = f"{len(plan.management_nodes)} + {len(plan.data_nodes)} + {len(plan.sql_nodes)} nodes"
            acts.life(
                f"{one}: {plan.ndb_version}, {nodes}",
                lambda place, a=plan, seed=one: Life(a, place, seed, timed=acts.breaks == 0),
                [],
            )
        if acts.is_late:
            return


def plans(given: argparse.Namespace) -> Iterator[tuple[str, Plan]]:
    """The samples at the versions, with one and with two management nodes."""
    for name in given.samples:
        for version in given.versions:
            for count in given.servers:
                sample = VARIED[name](sample_plan("starter")) if name in VARIED else sample_plan(name)
                plan = with_management_nodes(set_plan(sample, ndb_version=version), count)
                yield f"{name} {version}, {count} management node{'s' if count > 1 else ''}", plan


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def main() -> int:
    """Faults that were found, as an exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--breaks", default="3", help="so often in each part; all: behind every command")
    parser.add_argument("--seconds", type=float, default=1e6, help="stop after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=_words, default=SAMPLES)
    parser.add_argument("--versions", type=_words, default=VERSIONS)
    parser.add_argument("--servers", type=lambda text: [int(word) for word in _words(text)], default=(1, 2))
    parser.add_argument("--parts", type=_words, default=(), help="broken off are these; all run")
    parser.add_argument("--kinds", action="store_true", help="broken off on one host of each kind alone")
    parser.add_argument("--drawn", type=int, default=0, help="so many drawn changes instead")
    parser.add_argument("--plans", type=int, default=0, help="the lives of so many random plans instead")
    parser.add_argument("--no-changes", action="store_true", help="leave out changes of plans")
    acts = Acts(given := parser.parse_args())
    drawn = random.Random(given.seed)
    timed = acts.breaks == 0
    if given.drawn:
        act_drawn(acts, given.drawn, given.seed)
    if given.plans:
        act_plans(acts, given.plans, given.seed)
    for name, plan in () if given.drawn or given.plans else plans(given):
        seed = drawn.randrange(2**32)
        acts.life(name, lambda place, a=plan, seed=seed: Life(a, place, seed, timed=timed), [])
        for kind, before, after in () if given.no_changes else changes(plan):
            if acts.is_late:
                break
            acts.life(
                f"{name}, {kind}",
                lambda place, a=before, b=after, seed=seed: Life.of_change(a, b, place, seed, timed=timed),
                ["change"],
            )
        if acts.is_late:
            break
    behind = f" behind {acts.commands} commands" if acts.breaks is None else ""
    joined = f"{acts.joined} of them until all was as in a run that was not broken off"
    print(f"{acts.runs} runs{behind}, {joined}; {acts.faults} faults")
    if acts.timed:
        print(f"{acts.outside} of {acts.timed} parts took a time that is not in the stated range")
    return 1 if acts.faults or acts.outside > acts.timed / 5 else 0


if __name__ == "__main__":
    sys.exit(main())
