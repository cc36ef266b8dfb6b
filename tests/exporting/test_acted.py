"""Every part of the exported runbook acted out on a cluster of stubs: to the end, broken off, once more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporting.acted_cluster import PASSWORDS, ActedCluster
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.exporting.export import export
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column

LIFE = (
    "start",
    "schema",
    "backup",
    "restore",
    "rolling-restart",
    "initial-rolling-restart",
    "add-nodes",
    "stop",
    "start-again",
)

DOWN = ("start", "stop", "start-again", "restore")
"""Parts that take the cluster out of service, and say so."""


@pytest.fixture
def acted(tmp_path: Path) -> Iterator[Callable[..., tuple[ActedCluster, Path]]]:
    """A cluster on bare hosts, and the exported folder of its plan."""
    open_clusters: list[ActedCluster] = []

    def made(plan: Plan, seed: int = 1) -> tuple[ActedCluster, Path]:
        folder = tmp_path / f"{len(open_clusters)}" / "out"
        folder.parent.mkdir()
        export(plan, folder, ("config", "mycnf", "runbook", "systemd", "hosts"))
        cluster = ActedCluster(plan, seed).__enter__()
        open_clusters.append(cluster)
        return cluster, folder

    yield made
    for cluster in open_clusters:
        cluster.__exit__()


def versions(name: str) -> Plan:
    sample, _, version = name.partition(" ")
    plan = sample_plan(sample)
    return set_plan(plan, ndb_version=version) if version else plan


def with_one_management_node(plan: Plan) -> Plan:
    return plan.replace(processes=tuple(p for p in plan.processes if p not in plan.management_nodes[1:]))


def grown(plan: Plan) -> Plan:
    found = grown_configuration(plan)
    assert found is not None
    return found


def act(cluster: ActedCluster, folder: Path, part: str) -> None:
    cluster.may_be_down, cluster.rows_may_go_back = part in DOWN, part == "restore"
    if part == "add-nodes":
        cluster.know(grown(cluster.plan))
    done = cluster.run(folder, part)
    assert done.returncode == 0, (part, done.stderr, done.stdout[-2000:], cluster.log[-30:])
    assert cluster.faults == [], part


@pytest.mark.parametrize(
    ("name", "one_server"),
    [("starter 7.4", True), ("disk-data 8.4", False)],
)
def test_a_whole_life_runs_from_top_to_bottom(
    name: str, one_server: bool, acted: Callable[..., tuple[ActedCluster, Path]]
) -> None:
    plan = versions(name)
    if one_server:
        plan = with_one_management_node(plan)
    cluster, folder = acted(plan)
    for part in LIFE:
        if part == "add-nodes":
            act(cluster, folder, part)
            folder /= GROWN_FOLDER
        else:
            act(cluster, folder, part)
    assert all(node.is_started(cluster.now) for node in cluster.data_nodes.values())
    assert {node.group for node in cluster.data_nodes.values()} == set(range(len(cluster.data_nodes) // 2))
    wanted = {"'ndb_app'@'%'": PASSWORDS["ndb_app"], "'ndb_backup'@'localhost'": PASSWORDS["ndb_backup"]}
    assert all(cluster.accounts[node.host] == wanted for node in cluster.sql_nodes.values())
    dumps = [path for _, path in cluster.files if path.startswith("/var/lib/mysql-dumps/")]
    assert len(dumps) >= 2 * len(cluster.sql_nodes)
    written = [path.read_text() for path in folder.parents[1].rglob("*") if path.is_file()]
    assert sum(PASSWORDS["ndb_backup"] in text for text in written) == 1, "where the operator keeps it"


def test_parts_that_are_broken_off_run_to_the_end(acted: Callable[..., tuple[ActedCluster, Path]]) -> None:
    """The script is killed behind a command, again and again, and started again."""
    cluster, folder = acted(versions("starter"))
    for part in LIFE:
        cluster.may_be_down, cluster.rows_may_go_back = part in DOWN, part == "restore"
        if part == "add-nodes":
            cluster.know(grown(cluster.plan))
        for every in (5, 7, 11, 3, 13):
            cluster.dies_after = cluster.calls + every
            if cluster.run(folder, part).returncode == 0:
                break
        cluster.dies_after = None
        done = cluster.run(folder, part)
        assert done.returncode == 0, "\n".join((part, done.stderr, *cluster.log[-60:]))
        assert cluster.faults == [], part
        if part == "add-nodes":
            folder /= GROWN_FOLDER


def test_a_part_that_is_done_is_done_again_from_its_first_step(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = acted(versions("starter"))
    states = ("tune-hosts", "tune-hosts", "start", "start", "schema", "schema", "start-again")
    parts = (*states, "rolling-restart", "rolling-restart")
    for number, part in enumerate(parts):
        cluster.may_be_down = part in ("tune-hosts", "start")
        done = cluster.run(folder, part)
        assert done.returncode == 0, (done.stderr, cluster.log[-20:])
        assert "done before" not in done.stdout
        assert ("Changed: nothing" in done.stdout) == (number in (1, 3, 5, 6)), (part, done.stdout)
    assert cluster.faults == []
    assert (folder / "runbook.log").read_text().count("rolling-restart: done") == 2


def test_an_older_folder_is_refused_once_nodes_are_added(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = acted(versions("starter"))
    for part in ("start", "schema", "add-nodes"):
        act(cluster, folder, part)
    only_this = folder / "runbook.sh"
    text = only_this.read_text().replace("data_nodes=(1 2 3 4)", "data_nodes=(1 2)")
    only_this.write_text(text)
    refused = cluster.run(folder, "rolling-restart")
    assert refused.returncode == 2
    assert "data node 3, which this folder's config.ini lacks" in refused.stderr
    assert cluster.run(folder / GROWN_FOLDER, "rolling-restart").returncode == 0


def test_what_does_not_come_is_said_with_what_was_found(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = acted(versions("starter"))
    act(cluster, folder, "start")
    cluster.may_be_down = True
    cluster.data_nodes[2].active = False
    script = folder / "runbook.sh"
    script.write_text(script.read_text().replace("await 600 ", "await 3 "))
    refused = cluster.run(folder, "rolling-restart")
    assert refused.returncode == 1
    assert "step restart-1 stops" in refused.stderr
    assert "expected: data node 2 of the same node group is started" in refused.stderr
    assert "found:    Node 2: not connected" in refused.stderr
    assert "runbook.sh rolling-restart" in refused.stderr
    assert cluster.data_nodes[1].is_started(cluster.now), "its partner was left alone"


def test_no_text_of_a_plan_is_run(tmp_path: Path, acted: Callable[..., tuple[ActedCluster, Path]]) -> None:
    """Paths, names, values of an ENUM: in words of commands on hosts, and between the lines of SQL."""
    mark = tmp_path / "mark"
    evil = f"a\"' || : >{mark} || \"'"
    plan = versions("starter")
    for name in ("DataDir", "FileSystemPath", "BackupDataDir"):
        plan = set_parameter(plan, "data_node", name, f"/{evil}")
    table = plan.tables[0]
    ends = tuple(f"{end}\n: >{mark}\ncat <<'{end}'" for end in ("END_OF_SQL", "END_OF_SQL_"))
    column = Column(name="END_OF_SQL", type="enum", members=(*(f"x\n{e}" for e in ends), evil))
    plan = update(plan, table.id, columns=(*table.columns, column))
    cluster, folder = acted(plan)
    for part in ("start", "schema", "backup", "restore"):
        act(cluster, folder, part)
        assert not mark.exists(), part
    assert "END_OF_SQL_" in (folder / "runbook.sh").read_text()
