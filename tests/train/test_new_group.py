"""Nodes without a node group, and a group that was just made, at the consoles [8.4.8, 7.4.10]."""

from __future__ import annotations

import pytest

from ndbplan.base.kept import keeping
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

from .test_states_seen import plan_of


@pytest.fixture(params=["8.4.8", "7.4.10"])
def consoles(request: pytest.FixtureRequest) -> Consoles:
    """Two reserved nodes that have started, beside a cluster without a load."""
    plan = plan_of(request.param)
    old = [node for node in plan.data_nodes if node.node_id in (2, 3)]
    others = tuple(one for one in plan.processes if one not in plan.data_nodes or one in old)
    with keeping():
        cluster = LiveCluster.begin(plan.replace(processes=others), hours=0.2, reserved=1)
    found = Consoles(cluster)
    new = [node.node_id for node in cluster.plan.data_nodes if node.node_id not in (2, 3)]
    for node_id in new:
        found.answer(f"! start node:{node_id}")
    assert cluster.advance_until(lambda now: set(now.state.alive()) >= {*new}, 600.0, 1.0)
    return found


def table(answer: str) -> list[list[str]]:
    lines = [line for line in answer.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize(("name", "column"), [("memoryusage", "used"), ("logspaces", "used")])
def test_nodes_without_fragments_have_rows_with_nothing_in_use(
    consoles: Consoles, name: str, column: str
) -> None:
    where = "where memory_type = 'Data memory'" if name == "memoryusage" else ""
    query = f"select node_id, sum({column}), sum(total) from ndbinfo.{name} {where} group by 1 order by 1"
    found = table(consoles.answer(f"mysql> {query}"))
    assert [row[0] for row in found] == [str(i) for i in sorted(consoles.cluster.state.alive())]
    assert [row[1] for row in found[2:]] == ["0", "0"]
    assert len({row[2] for row in found}) == 1
    report = consoles.answer("ndb_mgm> ALL REPORT MEMORYUSAGE")
    assert f"Node {found[2][0]}: Data usage is 0%(0 32K pages of total " in report


def test_nodes_without_fragments_have_messages_all_the_same(consoles: Consoles) -> None:
    """Recorded on 7.4.10: 1,536 pages of 256 bytes on the new nodes, 1,024 and 2,048 on the old ones."""
    query = "select node_id, used from ndbinfo.memoryusage where memory_type like 'Long%' order by 1"
    found = table(consoles.answer(f"mysql> {query}"))
    assert len(found) == 4
    assert all(int(used) > 0 for _, used in found)


def test_a_table_that_was_made_after_the_group_keeps_it_until_it_is_dropped(consoles: Consoles) -> None:
    new = ",".join(str(node.node_id) for node in consoles.cluster.plan.data_nodes[2:])
    consoles.answer("ndb_mgm> SHOW")
    assert consoles.answer(f"ndb_mgm> CREATE NODEGROUP {new}") == "Nodegroup 1 created\n"
    consoles.answer("mysql> create table test.late (id int primary key) engine=ndb")
    refused = "*  1006: Illegal reply from server\n*        error: -2\n"
    assert consoles.answer("ndb_mgm> DROP NODEGROUP 1") == refused
    consoles.answer("mysql> drop table test.late")
    assert consoles.answer("ndb_mgm> DROP NODEGROUP 1") == "Drop Node Group 1 done\n"


def test_a_table_that_is_emptied_is_made_anew_on_all_groups(consoles: Consoles) -> None:
    new = ",".join(str(node.node_id) for node in consoles.cluster.plan.data_nodes[2:])
    consoles.answer("mysql> create table test.early (id int primary key) engine=ndb")
    consoles.answer("ndb_mgm> SHOW")
    consoles.answer(f"ndb_mgm> CREATE NODEGROUP {new}")
    assert consoles.answer("ndb_mgm> DROP NODEGROUP 1") == "Drop Node Group 1 done\n"
    consoles.answer(f"ndb_mgm> CREATE NODEGROUP {new}")
    consoles.answer("mysql> truncate table test.early")
    assert "error: -2" in consoles.answer("ndb_mgm> DROP NODEGROUP 1")


def test_a_table_that_is_made_after_the_group_lies_on_all_groups(consoles: Consoles) -> None:
    """Recorded on 8.4.8: partitions and memory of a table made after CREATE NODEGROUP are on all nodes."""
    nodes = [node.node_id for node in consoles.cluster.plan.data_nodes]
    new = nodes[2:]
    consoles.answer("mysql> create table test.early (id int primary key) engine=ndb")
    assert "created" in consoles.answer(f"ndb_mgm> CREATE NODEGROUP {','.join(map(str, new))}")
    consoles.answer("mysql> create table test.late (id int primary key, c char(200)) engine=ndb")
    query = "select distinct node_id from ndbinfo.memory_per_fragment where fq_name = '{}' order by 1"

    def on(name: str) -> list[int]:
        return [int(row[0]) for row in table(consoles.answer(f"mysql> {query.format(f'test/def/{name}')}"))]

    assert on("early") == nodes[:2]
    assert on("late") == nodes
    used = "select node_id, used from ndbinfo.memoryusage where memory_type = 'Data memory' order by 1"
    before = {int(i): int(size) for i, size in table(consoles.answer(f"mysql> {used}"))}
    values = ",".join(f"({row},'x')" for row in range(2_000))
    consoles.answer(f"mysql> insert into test.late values {values}")
    after = {int(i): int(size) for i, size in table(consoles.answer(f"mysql> {used}"))}
    grown = {i: after[i] - before[i] for i in nodes}
    assert all(grown.values())
    assert grown[nodes[0]] == pytest.approx(grown[new[0]], rel=0.5)
    consoles.answer("mysql> drop table test.late")
    found = {int(i): int(size) for i, size in table(consoles.answer(f"mysql> {used}"))}
    assert [found[i] for i in new] == [0, 0]


def test_nodes_that_the_plan_keeps_without_a_group_get_rows(consoles: Consoles) -> None:
    """Nodes of NodeGroup=65536 in the plan are as those that a session reserves."""
    told = consoles.cluster.plan
    plan = told.replace(
        processes=tuple(
            one.model_copy(update={"node_group": NODE_GROUP_NONE})
            if one in told.data_nodes and one.node_id not in (2, 3)
            else one
            for one in told.processes
        )
    )
    own = Consoles(LiveCluster.begin(plan, hours=0.2))
    new = [node.node_id for node in plan.data_nodes if node.node_id not in (2, 3)]
    assert own.cluster.state.alive() == [2, 3]
    for node_id in new:
        own.answer(f"! start node:{node_id}")
    assert own.cluster.advance_until(lambda now: set(now.state.alive()) >= {*new}, 600.0, 1.0)
    assert "created" in own.answer(f"ndb_mgm> CREATE NODEGROUP {','.join(map(str, new))}")
    name = plan.tables[0].full_name
    fragments = (
        "select distinct node_id from ndbinfo.memory_per_fragment where type = 'User table' order by 1"
    )
    assert table(own.answer(f"mysql> {fragments}")) == [["2"], ["3"]]
    assert own.answer(f"mysql> alter table {name} reorganize partition").startswith("Query OK")
    assert table(own.answer(f"mysql> {fragments}")) == [["2"], ["3"], *([str(i)] for i in new)]
    used = table(own.answer("mysql> select used from ndbinfo.memoryusage where memory_type = 'Data memory'"))
    assert all(int(row[0]) > 0 for row in used)


def test_who_goes_back_into_a_reorganisation_finds_its_session_at_it(consoles: Consoles) -> None:
    cluster = consoles.cluster
    new = [node.node_id for node in cluster.plan.data_nodes if node.node_id not in (2, 3)]
    consoles.answer(f"ndb_mgm> CREATE NODEGROUP {new[0]},{new[1]}")
    begin_s = cluster.now_s
    sql = "alter table test.t1 reorganize partition"
    assert consoles.answer(f"mysql> {sql}").startswith("Query OK")
    end_s = cluster.now_s
    cluster.rewind((begin_s + end_s) / 2)
    shown = table(consoles.answer("mysql2> show processlist"))
    assert [row[6:] for row in shown if row[0] == "8"] == [["altering table", sql]]
    for after_s in (-0.2, 0.3, 50.5):
        cluster.advance(end_s + after_s - cluster.now_s)
        (own,) = [row for row in table(consoles.answer("mysql2> show processlist")) if row[0] == "8"]
        if after_s < 0:
            assert own[4:] == ["Query", str(int(cluster.now_s - begin_s)), "altering table", sql]
        else:
            assert own[3:] == ["NULL", "Sleep", str(int(after_s)), "", "NULL"], "idle since its end"
