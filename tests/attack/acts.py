"""Exported runbooks acted out in full: every part of every sample, broken off, and once more.

    python tests/attack/acts.py --breaks 20 --seconds 600 --seed 1 [--samples starter,disk-data]

Each part of the life of a cluster runs to its end; it is broken off behind commands of its own and run to its
end; and it runs a second time as a whole. `--breaks 0`: behind every single command.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from exporting.acted_cluster import ActedCluster
from exporting.test_acted_change import CHANGES, come_to, is_as_planned, running
from ndbplan.base.resources import resource_path
from ndbplan.edits.parts import set_plan
from ndbplan.exporting.export import export
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))
VERSIONS = ("7.4", "8.0", "8.4")
LIFE = (
    "install", "start", "schema", "backup", "restore", "rolling-restart", "initial-rolling-restart",
    "add-nodes", "replace-host", "stop", "start-again",
)  # fmt: skip
DOWN = ("install", "start", "restore", "stop", "start-again")
"""Parts that take the cluster out of service, and say so."""


class Life:
    """One cluster, its exported folder, and what went wrong."""

    def __init__(self, plan: Plan, folder: Path, seed: int) -> None:
        self.plan, self.folder, self.random = plan, folder, random.Random(seed)
        export(plan, folder, ("config", "mycnf", "runbook", "systemd"))
        self.cluster = ActedCluster(plan, seed)
        self.cluster.__enter__()
        self.runs = 0

    def close(self) -> None:
        """The cluster is given up."""
        self.cluster.__exit__()

    def parts(self) -> Iterator[str]:
        """The parts that this plan's script has, in the order of a life."""
        text = (self.folder / "runbook.sh").read_text(encoding="utf-8")
        yield from (part for part in LIFE if f"\n  {part})\n" in text)

    def act(self, part: str, breaks: int) -> Iterator[str]:
        """One part: broken off on copies of the cluster, to its end, a second time. What went wrong."""
        before, self.cluster.dies_after = self.cluster.calls, None
        start = self.cluster.twin()
        yield from self._run(self.cluster, self.folder, part, "once")
        commands = self.cluster.calls - before
        wanted = range(1, commands)
        for number in wanted if not breaks else sorted(self.random.sample(wanted, min(breaks, len(wanted)))):
            with TemporaryDirectory(prefix="acted-") as place:
                folder = Path(place) / "lives" / "out"
                shutil.copytree(self.folder, folder)
                twin = start.twin()
                twin.__enter__()
                try:
                    twin.dies_after = twin.calls + number
                    self._prepared(twin, part)
                    twin.run(folder, part, *self._options(part))
                    twin.dies_after = None
                    yield from self._run(twin, folder, part, f"broken off behind {number} of {commands}")
                finally:
                    twin.__exit__()
        yield from self._run(self.cluster, self.folder, part, "again")
        if part == "add-nodes":
            self.folder /= GROWN_FOLDER.rstrip("/")

    def _options(self, part: str) -> tuple[str, ...]:
        if part != "replace-host":
            return ()
        return ("--host", self.cluster.data_nodes[min(self.cluster.data_nodes)].host)

    def _prepared(self, cluster: ActedCluster, part: str) -> None:
        cluster.may_be_down, cluster.rows_may_go_back = part in DOWN, part == "restore"
        if part == "add-nodes" and (grown := grown_configuration(self.plan)) is not None:
            cluster.know(grown)

    def _run(self, cluster: ActedCluster, folder: Path, part: str, how: str) -> Iterator[str]:
        self._prepared(cluster, part)
        done = cluster.run(folder, part, *self._options(part))
        self.runs += 1
        if done.returncode:
            yield f"{part}, {how}: {done.stderr}"
        if part not in DOWN:
            cluster.pass_time(20)
        yield from (f"{part}, {how}: {fault}" for fault in cluster.faults)
        cluster.faults.clear()
        if part not in ("install", "stop"):
            lost = [n.node_id for n in cluster.data_nodes.values() if n.active and n.rows != cluster.rows]
            if lost and part != "start":
                yield f"{part}, {how}: data nodes {lost} lack rows"


def changes(breaks: int, seed: int) -> Iterator[str]:
    """Every kind of change of a plan, broken off behind some of its commands. What went wrong."""
    drawn = random.Random(seed)
    for name, (before, make) in CHANGES.items():
        with TemporaryDirectory(prefix="acted-") as place:
            after = make(before)
            cluster = running(before, Path(place) / "lives" / "out", seed)
            try:
                wanted = [drawn.randrange(1, 30) for _ in range(breaks or 5)]
                come_to(cluster, before, after, Path(place) / "lives" / "new", wanted)
                is_as_planned(cluster, after)
            except AssertionError as fault:
                yield f"change {name}, broken off behind {wanted}: {str(fault)[:2000]}"
            finally:
                cluster.__exit__()


def plans(names: list[str]) -> Iterator[tuple[str, Plan]]:
    """Every sample at every version, as it is and with one management node."""
    for name in names:
        for version in VERSIONS:
            plan = set_plan(sample_plan(name), ndb_version=version)
            yield f"{name} {version}", plan
            if len(plan.management_nodes) > 1:
                others = plan.management_nodes[1:]
                one = plan.replace(processes=tuple(p for p in plan.processes if p not in others))
                yield f"{name} {version}, one management node", one


def main() -> int:
    """Faults that were found, as an exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--breaks", type=int, default=3, help="so often in each part; 0: everywhere")
    parser.add_argument("--seconds", type=float, default=1e6, help="stop after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", default=",".join(SAMPLES), help="which samples")
    given = parser.parse_args()
    began, faults, runs = time.monotonic(), 0, 0
    for fault in changes(given.breaks, given.seed):
        faults += 1
        print(f"FAULT {fault}", flush=True)
    print(f"{len(CHANGES)} changes, {time.monotonic() - began:.0f} s", flush=True)
    for name, plan in plans(given.samples.split(",")):
        with TemporaryDirectory(prefix="acted-") as place:
            life = Life(plan, Path(place) / "lives" / "out", given.seed)
            try:
                for part in life.parts():
                    for fault in life.act(part, given.breaks):
                        faults += 1
                        print(f"FAULT {name}: {fault}", flush=True)
                    if time.monotonic() - began > given.seconds:
                        break
            finally:
                life.close()
            runs += life.runs
        print(f"{name}: {life.runs} runs, {time.monotonic() - began:.0f} s", flush=True)
        if time.monotonic() - began > given.seconds:
            break
    print(f"{runs} runs, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
