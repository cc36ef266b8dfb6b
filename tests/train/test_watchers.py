"""ndb_waiter and ndb_select_count, as recorded on running 8.4.8 and 7.4.10 clusters."""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster


def at_host(cluster: LiveCluster) -> Callable[[str], str]:
    name, consoles = cluster.plan.hosts[0].hostname, Consoles(cluster)
    return lambda line: consoles.answer(f"{name}$ {line}")


def test_a_cluster_that_is_started_is_told_at_once(cluster: LiveCluster) -> None:
    say, begin_s = at_host(cluster), cluster.now_s
    ids = [node.node_id for node in cluster.plan.data_nodes]
    assert say("ndb_waiter --timeout=5") == "".join(f"Node {i}: STARTED\n" for i in ids)
    assert say("echo $?") == "0\n"
    assert say(f"ndb_waiter -t 3 --wait-nodes={ids[1]}") == f"Node {ids[1]}: STARTED\n"
    assert say(f"ndb_waiter --nowait-nodes={ids[0]}").splitlines()[0] == f"Node {ids[1]}: STARTED"
    assert cluster.now_s == begin_s


def test_a_state_that_does_not_come_is_waited_for_until_the_time_is_over(cluster: LiveCluster) -> None:
    say, begin_s = at_host(cluster), cluster.now_s
    first = cluster.plan.data_nodes[0].node_id
    said = say("ndb_waiter --timeout=3 --no-contact")
    assert said.splitlines()[0] == f"Node {first}: STARTED (waited for NO_CONTACT)"
    assert say("echo $?") == "1\n"
    assert round(cluster.now_s - begin_s, 1) == 3.0


def test_a_node_that_comes_back_is_waited_for(cluster: LiveCluster) -> None:
    say, consoles = at_host(cluster), Consoles(cluster)
    node = cluster.plan.data_nodes[1].node_id
    consoles.answer(f"! kill node:{node}")
    consoles.answer("! wait 2s")
    consoles.answer(f"! start node:{node}")
    begin_s = cluster.now_s
    assert f"Node {node}: STARTED\n" in say("ndb_waiter --timeout=3000")
    assert cluster.now_s > begin_s


def test_rows_are_counted_and_a_table_that_is_none_is_said(begun: Callable[[str], LiveCluster]) -> None:
    for version, end in (("8.4.8", ""), ("7.4.10", "\nNDBT_ProgramExit: 0 - OK\n\n")):
        cluster = begun(version)
        consoles, say = Consoles(cluster), at_host(cluster)
        consoles.answer("mysql> create table test.few (id int primary key) engine=ndb")
        consoles.answer("mysql> insert into test.few values (1), (2), (3)")
        assert say("ndb_select_count -d test few") == f"3 records in table few\n{end}"
        assert say("ndb_select_count -d test nosuch").startswith(" Table nosuch does not exist!\n")
        assert say("ndb_select_count -x").startswith("ndb_select_count: [ERROR] unknown option")


def test_a_program_that_waits_ends_with_what_came_of_it(cluster: LiveCluster) -> None:
    """`ndb_mgm -e` told 0 of a backup that failed while it waited."""
    say = at_host(cluster)
    assert "completed" in say("ndb_mgm -e 'START BACKUP 7'")
    assert say("echo $?") == "0\n"
    assert "failed" in say("ndb_mgm -e 'START BACKUP 7'")
    assert say("echo $?") == "255\n"


def test_tables_are_shown_in_the_form_of_each_release(begun: Callable[[str], LiveCluster]) -> None:
    """Lines, their widths and the words of kinds: recorded on a running 8.4.8 and a 7.4.10."""
    for version, hash_map, end in (
        ("8.4.8", "HashMap", ""),
        ("7.4.10", "0", "\nNDBT_ProgramExit: 0 - OK\n\n"),
    ):
        cluster = begun(version)
        consoles, say = Consoles(cluster), at_host(cluster)
        consoles.answer(
            "mysql> create table test.few (id int primary key, k int, unique key u (k)) engine=ndb"
        )
        said = say("ndb_show_tables")
        lines = said.removesuffix(end).splitlines()
        assert lines[0] == "id    type                 state    logging database     schema   name"
        assert "2     SystemTable          Online   Yes     sys          def      SYSTAB_0" in lines
        assert said.endswith(end)
        (few,) = [line for line in lines if line.endswith(" few")]
        assert few[6:] == "UserTable            Online   Yes     test         def      few"
        number = int(few[:6])
        (name,) = {line[6:26].strip() for line in lines if "DEFAULT-HASHMAP" in line}
        assert name == hash_map
        typed = say("ndb_show_tables -p -f -t 2").removesuffix(end).splitlines()
        assert f"{number}\t'UserTable'\t'Online'\t'Yes'\t'test'\t'def'\t'test/def/few'" in typed
        assert all("'UserTable'" in line for line in typed)
        assert f"sys/def/{number}/u$unique" in say("ndb_show_tables --fully-qualified --type=3")
        listed = say("ndb_show_tables -t 24").removesuffix(end)
        assert say("ndb_show_tables -t24 --loops=2") == listed * 2 + end
        assert "is not simulated" in say("ndb_show_tables --show-temp-status")
        indexes = say("ndb_show_tables -d test few").removesuffix(end).splitlines()[1:]
        assert sorted(line[6:26].strip() for line in indexes) == ["OrderedIndex"] * 2 + ["UniqueHashIndex"]
        assert say("ndb_show_tables -s").startswith(
            "ndb_show_tables: [ERROR] ndb_show_tables: unknown option"
        )
