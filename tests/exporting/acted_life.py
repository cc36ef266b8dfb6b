"""The life of an acted cluster, part after part of its exported runbook, and the laws of each.

    life = Life(plan, tmp_path)
    for part, host in life.parts():
        faults += life.act(part, 3, host)

A part runs to its end, is taken up again where it was broken off behind its commands (on twins of the
cluster, until all is as it was in the first run), and runs a second time as a whole. Laws: no node group is
without a started node and never are all SQL nodes down, but in parts that say so; no committed row is lost;
afterwards every process works by the plan.
"""

from __future__ import annotations

import random
import shutil
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from exporting.acted_cluster import ActedCluster
from exporting.acted_hosts import group_of, unit_file
from exporting.acted_shell import is_option_of
from exporting.acted_state import Process, read_configuration, release_of
from exporting.acted_times import ActedTimes
from ndbplan.base.kept import keeping, kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.quoting import sql_identifier
from ndbplan.configuration.difference import MYSQLD, RESTART_DATA_NODES, Difference, diff
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.services import service_of, services
from ndbplan.exporting.export import Running, export
from ndbplan.exporting.my_cnf import render_my_cnf
from ndbplan.exporting.systemd import render_units
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.operations.life import operations
from ndbplan.operations.meanwhile import NOBODY
from ndbplan.operations.operation import Operation
from ndbplan.operations.schema import table_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE

KINDS = ("config", "mycnf", "runbook", "systemd", "hosts")
LIFE = (
    "install", "tune-hosts", "start", "schema", "backup", "restore", "rolling-restart",
    "initial-rolling-restart", "add-nodes", "replace-host", "stop", "start-again",
)  # fmt: skip
NOT_UP = ("install", "tune-hosts", "stop")
"""Parts behind which no cluster works; the first two run on bare hosts here."""

ROWS_ARE_LOST = "Every row is lost"
"""What a step says that ends all copies of them."""

LATE_OR_EARLY = "is stated, and it took"
"""In what is said of a part whose time is not in its range."""

_Passed = dict[tuple[int, tuple[str, ...]], int]
"""How a cluster stands before each line of a script, and what the script has written until then."""


class _Snapshot(NamedTuple):
    """A moment at which the script is killed."""

    number: int
    standing: tuple[int, tuple[str, ...]] | None
    """Of the cluster, and what the script knows; None: it is compared with no other moment."""
    cluster: ActedCluster
    state: dict[str, str]
    """What the script has written, by file."""


def _done(state: Path) -> tuple[str, ...]:
    """What a script knows of what it has done."""
    files = sorted(state.parent.glob("*.state.*"))
    return tuple(f"{path.name}\n{path.read_text()}" for path in files if path.suffix not in (".log", ".lock"))


def _is_passed(passed: _Passed, cluster: ActedCluster, state: Path, least: int, line: int) -> bool:
    """Whether the script that was not broken off came by here too: all that follows was seen of it.

    `least`: the line at which it was broken off; nothing is looked at before it.
    """
    there = passed.get((line, _done(state))) if line >= least else None
    return there is not None and there == cluster.standing()


def is_out_of_service(operation: Operation) -> bool:
    """Whether a part says that nothing works meanwhile."""
    return any(what == NOBODY for step in operation.steps for what in step.blocked)


class Life:
    """One cluster and the exported folder it is worked on from."""

    def __init__(
        self, plan: Plan, place: Path, seed: int = 1, before: Plan | None = None, *, timed: bool = False
    ) -> None:
        self.plan, self.before, self.place = plan, before, place
        self.random = random.Random(seed)
        self.folder = place / "out"
        place.mkdir(parents=True, exist_ok=True)
        running = None if before is None else Running(before)
        with keeping():
            export(plan, self.folder, KINDS, running=running)
            self.operations = {part.key: part for part in operations(plan, before=before)}
        self.cluster = ActedCluster(before or plan, seed)
        self.cluster.releases = dict.fromkeys(self.cluster.releases, "")
        self.programs = place / "programs"
        self.programs.mkdir()
        (self.programs / "ndb.rpm").write_text(release_of(plan))
        self.breaks_on: frozenset[str] | None = None
        """Hosts behind whose commands a part is broken off; None: all."""
        self.runs = self.joined = self.breaks = 0
        self.took: dict[str, tuple[float, Quantity]] = {}
        """Seconds that each timed part took, and what was stated."""
        self.has_tables = self.failed = False
        # Without a node group there is no estimate of anything to be held against.
        has_times = timed and bool(node_groups(before or plan))
        self.times = ActedTimes(plan, before, self.random) if has_times else None

    @classmethod
    def of_change(cls, before: Plan, after: Plan, place: Path, seed: int = 1, *, timed: bool = False) -> Life:
        """A cluster that works by one plan, and the folder that brings it to another."""
        old = cls(before, place / "old", seed)
        for part in ("install", "start", "schema"):
            if part in old.operations and (faults := list(old.act(part, 0, again=False))):
                raise AssertionError(faults)
        life = cls(after, place / "new", seed, before, timed=timed)
        life.cluster, life.has_tables = old.cluster, old.has_tables
        return life

    def parts(self) -> Iterator[tuple[str, str]]:
        """The parts that this plan's script has, in the order of a life, and the host that some name."""
        for part in LIFE:
            if part == "replace-host" and part in self.operations:
                yield from ((part, host) for host in self._kinds_of_hosts())
            elif part in self.operations:
                yield part, ""
            if self.failed:
                return

    def _kinds_of_hosts(self) -> Iterator[str]:
        """One host of each kind of node, whose loss leaves a node of every group."""
        groups = [[service_of(self.plan, node).host for node in group] for group in node_groups(self.plan)]
        kinds = (self.plan.data_nodes, self.plan.management_nodes, self.plan.sql_nodes)
        hosts = dict.fromkeys(service_of(self.plan, nodes[0]).host for nodes in kinds if nodes)
        yield from (one for one in hosts if all(any(host != one for host in group) for group in groups))

    def one_host_of_each_kind(self) -> frozenset[str]:
        """The first host with nodes of the same kinds in the same places of their node groups.

        Where many hosts are alike, a script does the same on all of them.
        """
        places = {node.node_id: place for group in node_groups(self.plan) for place, node in enumerate(group)}
        nodes = defaultdict[str, list[tuple[str, int | None]]](list)
        for node in (*self.plan.management_nodes, *self.plan.data_nodes, *self.plan.sql_nodes):
            kind = type(node).__name__, places.get(node.node_id)
            nodes[service_of(self.plan, node).host].append(kind)
        return frozenset({tuple(kinds): host for host, kinds in reversed([*nodes.items()])}.values())

    # Acting.

    def act(self, part: str, breaks: int | None, host: str = "", *, again: bool = True) -> Iterator[str]:
        """One part to its end, taken up behind so many of its commands (None: all), again. What is wrong."""
        if host:
            self.cluster.lose(host)
            # What the loss took from clients the part did not.
            self.cluster.sql_was_up = any(one.active for one in self.cluster.sql_nodes.values())
        options = ("--host", host) if host else ()
        broken = list[_Snapshot]()
        passed: _Passed = {}
        kept = f"of-{len(self.folder.parts)}"
        state = self._state(kept)
        seen = self.cluster.calls
        if breaks != 0:
            self.cluster.watch = lambda: self._keep(broken, breaks, self.cluster.calls - seen, state)
            self.cluster.arrives = lambda line: self._pass(passed, self.cluster, line, state)
        yield from self._run(self.cluster, part, "once", state, options)
        self.cluster.watch = self.cluster.arrives = None
        of = self.cluster.calls - seen
        for one in broken:
            state = self._state(f"broken-{self.runs}")
            for name, text in one.state.items():
                state.with_name(name).write_text(text)
            one.cluster.arrives = partial(_is_passed, passed, one.cluster, state, one.cluster.line)
            yield from self._run(one.cluster, part, f"broken off behind {one.number} of {of}", state, options)
            shutil.rmtree(state.parent)
        if again:
            yield from self._run(self.cluster, part, "again", self._state(kept), options)
        if part == "add-nodes":
            self.folder /= GROWN_FOLDER.rstrip("/")
            self.plan = grown_configuration(self.plan)

    def _state(self, name: str) -> Path:
        """Where a run of the script writes what it has done."""
        folder = self.place / "states" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "runbook.state"

    @staticmethod
    def _pass(passed: _Passed, cluster: ActedCluster, line: int, state: Path) -> bool:
        """Keep how the cluster stands before a line of the script that is not broken off."""
        passed[line, _done(state)] = cluster.standing()
        return False

    def _keep(self, broken: list[_Snapshot], breaks: int | None, number: int, state: Path) -> None:
        """This moment, or not: every one of a part is as likely as any other, however many there will be.

        Where all are wanted, a command that only looked changes nothing for who comes after it.
        """
        if self.breaks_on is not None and self.cluster.host not in self.breaks_on:
            return
        place, standing = len(broken), None
        if breaks is None:
            self.breaks += 1
            standing = self.cluster.standing(), _done(state)
            if broken and broken[-1].standing == standing:
                return
        elif len(broken) >= breaks:
            place = self.random.randrange(number)
            if place >= breaks:
                return
        files = {path.name: path.read_text() for path in state.parent.iterdir()}
        broken[place : place + 1] = [_Snapshot(number, standing, self.cluster.twin(), files)]

    def _run(
        self, cluster: ActedCluster, part: str, how: str, state: Path, options: tuple[str, ...]
    ) -> Iterator[str]:
        with keeping():
            after = self.prepared(cluster, part)
        cluster.lasts = self.times
        if self.times is not None:
            self.times.is_empty = lambda: not any(node.tables for node in cluster.data_nodes.values())
            self.times.down = cluster.down
        if is_option_of(self.folder / "runbook.sh", part, "programs"):
            options = (*options, "--programs", str(self.programs))
        began = cluster.now
        done = cluster.run(self.folder, part, *options, state=state)
        self.runs += 1
        acted_s = cluster.now - began
        if done.returncode == -signal.SIGKILL and cluster.has_joined:
            self.joined += 1
            yield from (f"{part}, {how}: {one}" for one in cluster.faults)
            return
        if done.returncode:
            cluster.faults.clear()
            self.failed = cluster is self.cluster
            yield f"{part}, {how}: {done.stderr}"
            return
        self.has_tables = self.has_tables or part == "schema"
        if part == "stop":
            cluster.in_service = cluster.sql_was_up = False
        if any(ROWS_ARE_LOST in step.destructive for step in self.operations[part].steps):
            cluster.rows, self.has_tables = 0.0, False
        cluster.may_be_down = False
        # It says itself whether it brings something about, and what is so already it leaves alone then.
        is_idle = "Changed: nothing" in done.stdout
        if how == "again" and is_idle is bool(self.operations[part].each_time):
            yield f"{part}, {how}: {done.stdout[-60:].strip()}"
        if part not in NOT_UP:
            cluster.pass_time(20)
        # The same is seen again at every moment that it lasts.
        wrong = list({one.partition(" s: ")[2]: one for one in reversed(cluster.faults)}.values())
        cluster.faults.clear()
        stated = self._stated(part, options)
        if self.times is not None and how == "once" and stated is not None:
            self.took[part] = acted_s, stated
            if not stated.low <= acted_s <= stated.high:
                wrong.append(f"{stated} {LATE_OR_EARLY} {acted_s:.0f} s")
        with keeping():
            wrong += () if part in NOT_UP else is_as_planned(cluster, after, self.has_tables)
        wrong += (f"the mysqld of packages runs on {host}" for host in sorted(cluster.packaged))
        if part == "stop":
            wrong += (f"{one.unit} runs" for one in cluster.processes() if one.active)
        yield from (f"{part}, {how}: {one}" for one in wrong)

    def _stated(self, part: str, options: tuple[str, ...]) -> Quantity | None:
        """What the runbook says of a part, or of its steps for the host that is named."""
        steps = self.operations[part].steps
        mine = tuple(step for step in steps if step.text and (not step.host or step.host in options))
        asked = replace(self.operations[part], steps=mine)
        return asked.duration_s if asked.timeline else None

    def prepared(self, cluster: ActedCluster, part: str) -> Plan:
        """What the cluster may go through in a part, and the plan that it works by afterwards."""
        cluster.may_be_down = part == "stop" or is_out_of_service(self.operations[part])
        cluster.clients_wait = any(
            what.endswith(" (the only one)") for step in self.operations[part].steps for what in step.blocked
        )
        cluster.rows_may_go_back = part == "restore"
        after = self.plan
        if part == "add-nodes":
            after = grown_configuration(self.plan)
        if after is not cluster.plan:
            cluster.know(after)
        return after


# What must hold while a cluster works.


def is_as_planned(cluster: ActedCluster, plan: Plan, has_tables: bool) -> Iterator[str]:
    """What of a cluster is not as its plan says."""
    # Nodes have read the same file, many of them.
    told = cache(lambda configuration: diff(read_configuration(configuration, plan.ndb_version), plan))
    for node in plan.data_nodes:
        acted = cluster.data_nodes[node.node_id]
        if not acted.is_started(cluster.now):
            yield f"data node {node.node_id} is not started"
            continue
        if acted.group is not None and acted.rows != cluster.rows:
            yield f"data node {node.node_id} lacks rows"
        yield from _differs(f"data node {node.node_id}", told(acted.configuration), node.node_id)
        changed = (c for c in told(acted.made_by).parameters if node.node_id in c.node_ids)
        kept = [c.name for c in changed if c.restart == "initial_node"]
        if kept:
            yield f"the files of data node {node.node_id} are of another {', '.join(kept)}"
    for number, group in enumerate(node_groups(plan)):
        found = {cluster.data_nodes[node.node_id].group for node in group}
        if found != {number}:
            yield f"node group {number} is {found}"
    for node in plan.data_nodes:
        if node.node_group != NODE_GROUP_NONE and cluster.data_nodes[node.node_id].group is None:
            yield f"data node {node.node_id} is in no node group"
    yield from (f"{path} is left on {host}" for host, path in cluster.files if path.endswith(".under-way"))
    yield from _programs(cluster, plan, told)
    tables = {
        table_name(table): {sql_identifier(column.name) for column in table.columns}
        | {f"INDEX {sql_identifier(index.name)}" for index in table.indexes}
        for table in plan.tables
    }
    found = {
        name: {one for one in parts if not one.startswith("PRIMARY KEY")}
        for name, parts in cluster.tables.items()
    }
    if has_tables and found != tables:
        yield f"tables {found.keys() ^ tables.keys() or 'have other columns'}"


def _programs(cluster: ActedCluster, plan: Plan, told: Callable[[str], Difference]) -> Iterator[str]:
    """Management and SQL nodes, the release of all, and how they were started."""
    acted: list[Process] = [cluster.data_nodes[node.node_id] for node in plan.data_nodes]
    for manager in plan.management_nodes:
        server = cluster.management[manager.node_id]
        acted.append(server)
        yield from _differs(f"management node {manager.node_id}", told(server.configuration))
    for service in services(plan):
        place = service.host, service.target
        if (text := cluster.units.get(place)) and _without_head(text) != _without_head(
            _units(plan)[service.file]
        ):
            yield f"{service.name} is not the one of the plan"
    options = render_my_cnf(plan)
    for mysqld in plan.sql_nodes:
        process = cluster.sql_nodes[mysqld.node_id]
        acted.append(process)
        read, planned = (
            (group_of(text, "mysqld"), group_of(text, f"mysqld@{mysqld.node_id}"))
            for text in (process.options, options[process.host])
        )
        if read != planned:
            yield f"{process.unit} has read another my.cnf"
        if process.tables_of not in ("", process.release):
            yield f"{process.unit} works with system tables of {process.tables_of}"
        if process.is_offline:
            yield f"{process.unit} takes no clients"
    for process in acted:
        if not process.serves(cluster.now):
            yield f"{process.unit} does not serve"
        if process.release != release_of(plan):
            yield f"{process.unit} runs {process.release or 'nothing'}"
        if (process.host, unit_file(process)) not in cluster.enabled:
            yield f"{process.unit} does not start with its host"
    wanted = {(service.host, service.target): service.name for service in services(plan)}
    for left in cluster.processes():
        if left.active and left not in acted:
            yield f"{left.unit} on {left.host} still runs"
    yield from (f"{target} on {host} is left" for host, target in cluster.enabled - wanted.keys())


def _without_head(text: str) -> str:
    """A unit but for its first line, which names the release that it was written for."""
    return text.partition("\n")[2]


_units = kept_by_identity(8)(render_units)


def _differs(who: str, found: Difference, node_id: int | None = None) -> Iterator[str]:
    """What is otherwise in config.ini. `node_id`: of a data node, which reads what is of data nodes.

    Its node group it reads when the cluster starts without files; which one it is in is asked elsewhere.
    """
    other = [
        one.name
        for one in found.parameters
        if one.section != MYSQLD
        and (
            node_id is None
            or (one.section in RESTART_DATA_NODES and node_id in one.node_ids and one.name != "Nodegroup")
        )
    ]
    links = [link for link in found.links if node_id is None or node_id in link]
    if other or links or found.added or found.removed:
        nodes = (*found.added_node_ids, *found.removed_node_ids)
        yield f"{who} works by another configuration: {other}, links {links}, nodes {nodes}"
