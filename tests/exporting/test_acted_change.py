"""The part that brings a cluster from one plan to another, acted out under a load: broken off, and again."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from exporting.acted_cluster import ActedCluster
from ndbplan.configuration.difference import diff
from ndbplan.configuration.needs import needs
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.exporting.export import Running, export
from ndbplan.importing.config.plan import import_config
from ndbplan.operations.schema import table_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index

KINDS = ("config", "mycnf", "runbook", "systemd")
STARTER = sample_plan("starter")
OLD = set_plan(STARTER, ndb_version="7.4")


def parameter(name: str, value: int, scope: str = "data_node") -> Callable[[Plan], Plan]:
    return lambda plan: set_parameter(plan, scope, name, value)


def moved(plan: Plan) -> Plan:
    return update(plan, plan.data_nodes[0].host_id, hostname="other")


def with_another_server(plan: Plan) -> Plan:
    node = plan.management_nodes[0]
    host = plan.sql_nodes[0].host_id
    new = node.model_copy(update={"id": "mgm150", "node_id": 150, "host_id": host})
    return plan.replace(processes=(*plan.processes, new))


def without_an_sql_node(plan: Plan) -> Plan:
    return remove(plan, [plan.sql_nodes[0].id])


def on_the_lcp_disk(plan: Plan) -> Plan:
    """The redo log where the checkpoints are: no link any more, files elsewhere."""
    for node in plan.data_nodes:
        roles = node.disk_roles
        plan = update(plan, node.id, disk_roles=roles.model_copy(update={"lcp": roles.redo}))
    return plan


def with_other_tables(plan: Plan) -> Plan:
    """One that is new, one that goes, one with another column, another index and one less."""
    first, second, *others = plan.tables
    more = first.model_copy(update={
        "columns": (*first.columns, Column(name="note", type="varchar", length=40)),
        "indexes": (Index(name="by_name", columns=("name",)),),
    })  # fmt: skip
    new = others[0].model_copy(update={"id": "fresh", "name": "fresh"})
    return remove(plan.replace(tables=(more, second, *others, new)), [second.id])


CHANGES = {
    "node": (STARTER, parameter("DataMemory", 2**36)),
    "one node": (STARTER, lambda plan: set_parameter(plan, plan.data_nodes[1].id, "MaxNoOfTables", 500)),
    "initial node": (STARTER, parameter("NoOfFragmentLogFiles", 20)),
    "initial node, 7.4": (OLD, parameter("FragmentLogFileSize", 2**29)),
    "files elsewhere": (STARTER, on_the_lcp_disk),
    "sql": (STARTER, parameter("BatchSize", 512, "sql")),
    "mysqld": (STARTER, lambda plan: update(plan, plan.sql_nodes[0].id, options={"ndb_batch_size": 65536})),
    "management": (STARTER, parameter("HeartbeatIntervalMgmdMgmd", 2000, "management")),
    "another server": (STARTER, with_another_server),
    "fewer SQL nodes": (STARTER, without_an_sql_node),
    "system": (STARTER, moved),
    "grow": (STARTER, add_node_group),
    "grow, 7.4": (OLD, add_node_group),
    "tables": (STARTER, with_other_tables),
    "grow, tables": (OLD, lambda plan: add_node_group(with_other_tables(plan))),
    "upgrade": (set_plan(STARTER, ndb_version="8.0.30"), lambda _: STARTER),
    "initial system": (add_node_group(STARTER), lambda _: STARTER),
}


IN_SHORT = (
    "one node",
    "initial node, 7.4",
    "another server",
    "system",
    "grow, tables",
    "upgrade",
    "initial system",
)
"""One of each way; tests/attack/acts.py runs them all, broken off behind more commands."""


def running(plan: Plan, folder: Path, seed: int) -> ActedCluster:
    """A cluster of a plan, started from its own folder, with clients."""
    folder.parent.mkdir(parents=True)
    export(plan, folder, KINDS)
    cluster = ActedCluster(plan, seed)
    cluster.__enter__()
    cluster.may_be_down = True
    for part in ("start", "schema"):
        done = cluster.run(folder, part)
        assert done.returncode == 0, done.stderr
    cluster.may_be_down = False
    cluster.pass_time(20)
    return cluster


def packages(folder: Path, release: str, name: str = "ndb.rpm") -> Path:
    """A folder with programs of a release, as the cluster takes them."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(release)
    return folder


def come_to(cluster: ActedCluster, before: Plan, after: Plan, folder: Path, breaks: list[int]) -> None:
    """The part `change`, killed behind some of its commands, and to the end."""
    programs = ("--programs", str(packages(folder.parent / "programs", str(after.version))))
    export(after, folder, KINDS, running=Running(before))
    cluster.may_be_down = needs(before, after).kind in ("system", "initial_system")
    cluster.know(after)
    gone = {node.node_id for node in before.sql_nodes} - {node.node_id for node in after.sql_nodes}
    for one in breaks:
        cluster.dies_after = cluster.calls + one
        cluster.run(folder, "change", *programs)
    cluster.dies_after = None
    for node_id in gone:
        del cluster.sql_nodes[node_id]
    done = cluster.run(folder, "change", *programs)
    assert done.returncode == 0, "\n".join((done.stderr, *cluster.log[-40:]))
    assert cluster.faults == []


def is_as_planned(cluster: ActedCluster, plan: Plan) -> None:
    """Every node works by the plan, has its rows, and nothing is lost."""
    cluster.may_be_down = False
    cluster.pass_time(20)
    assert cluster.faults == []
    for node in plan.data_nodes:
        acted = cluster.data_nodes[node.node_id]
        assert acted.is_started(cluster.now)
        assert acted.rows == cluster.rows
        assert acted.release == str(plan.version)
        loaded, _ = import_config({"config.ini": acted.configuration.encode()}, plan.ndb_version)
        left = [c for c in diff(loaded, plan).parameters if c.section == "DB" and node.node_id in c.node_ids]
        assert left == []
        made, _ = import_config({"config.ini": acted.made_by.encode()}, plan.ndb_version)
        initial = [c.name for c in diff(made, plan).parameters if c.restart == "initial_node"]
        assert initial == [], "the redo log is as it was made"
    assert cluster.tables == {
        table_name(table): {f"`{column.name}`" for column in table.columns}
        | {f"INDEX `{index.name}`" for index in table.indexes}
        for table in plan.tables
    }
    assert all(cluster.sql_nodes[node.node_id].serves(cluster.now) for node in plan.sql_nodes)
    assert all(cluster.management[node.node_id].serves(cluster.now) for node in plan.management_nodes)


@pytest.mark.parametrize("name", IN_SHORT)
def test_a_change_comes_to_its_end(name: str, tmp_path: Path) -> None:
    before, make = CHANGES[name]
    after = make(before)
    cluster = running(before, tmp_path / "old" / "out", seed=1)
    try:
        drawn = random.Random(name)
        come_to(cluster, before, after, tmp_path / "old" / "new", [drawn.randrange(1, 30)])
        is_as_planned(cluster, after)
    finally:
        cluster.__exit__()


@pytest.mark.parametrize("host", ["host-a1", "app-b1"])
def test_a_host_is_replaced(host: str, tmp_path: Path) -> None:
    """A data node; a management node and an SQL node on one machine."""
    folder = tmp_path / "old" / "out"
    cluster = running(STARTER, folder, seed=2)
    try:
        cluster.lose(host)
        asked = cluster.run(folder, "replace-host", "--host", host)
        assert "found:    none; name them with --programs PATH" in asked.stderr
        programs = packages(tmp_path / "programs", "8.4", "ndb.tar.gz") / "ndb.tar.gz"
        for dies in (7, 19, None):
            cluster.dies_after = None if dies is None else cluster.calls + dies
            done = cluster.run(folder, "replace-host", "--host", host, "--programs", str(programs))
        assert done.returncode == 0, done.stderr
        is_as_planned(cluster, STARTER)
        assert cluster.data_nodes[1].initial_starts == (host == "host-a1")
    finally:
        cluster.__exit__()


def test_a_folder_of_another_configuration_is_refused(tmp_path: Path) -> None:
    """Neither a rolling restart nor a change from something else is begun."""
    cluster = running(STARTER, tmp_path / "old" / "out", seed=3)
    other = set_parameter(STARTER, "data_node", "NoOfFragmentLogFiles", 20)
    export(other, tmp_path / "old" / "other", KINDS)
    export(other, tmp_path / "old" / "wrong", KINDS, running=Running(parameter("DataMemory", 2**35)(other)))
    try:
        cluster.calls = 0
        for folder, part in (("other", "rolling-restart"), ("wrong", "change")):
            refused = cluster.run(tmp_path / "old" / folder, part)
            assert refused.returncode == 2
            assert "> NoOfFragmentLogFiles=20" in refused.stderr
            assert "export the plan with --from that file" in refused.stderr.lower()
        again = cluster.run(tmp_path / "old" / "out", "rolling-restart")
        assert again.returncode == 0
    finally:
        cluster.__exit__()


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    """A second run must not take a backup of the new cluster and empty it once more."""
    before, after = CHANGES["initial system"][0], STARTER
    cluster = running(before, tmp_path / "old" / "out", seed=4)
    try:
        come_to(cluster, before, after, tmp_path / "old" / "new", [])
        cluster.pass_time(50)
        again = cluster.run(tmp_path / "old" / "new", "change")
        assert "nothing to do" in again.stdout
        assert len(cluster.backups) == 1
        is_as_planned(cluster, after)
    finally:
        cluster.__exit__()
