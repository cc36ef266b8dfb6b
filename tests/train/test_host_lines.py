"""The shell of a host: pipes, exit statuses, units, and options that are not simulated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.plan.samples import sample_plan
from ndbplan.train.consoles import Consoles
from ndbplan.train.host.pipes import Unread, parts_of, through
from ndbplan.train.live import LiveCluster

TEXT = "one 10\ntwo 9\nThree 100\ntwo.five 1\n"


@pytest.mark.parametrize(
    ("line", "left", "status"),
    [
        ("x | grep two", "two 9\ntwo.five 1\n", 0),
        ("x | grep -i three | wc -l", "1\n", 0),
        ("x | grep -v two", "one 10\nThree 100\n", 0),
        ("x | grep -c nothing", "0\n", 1),
        ("x | grep -n '^two .$'", "2:two 9\n", 0),
        ("x | grep -F .", "two.five 1\n", 0),
        ("x | grep -E '^one|five'", "one 10\ntwo.five 1\n", 0),
        ("x | grep 'o.*9'", "two 9\n", 0),
        ("x | head -2", "one 10\ntwo 9\n", 0),
        ("x | head -n1", "one 10\n", 0),
        ("x | tail -n 1", "two.five 1\n", 0),
        ("x | sort -n -k2 | head -1", "two.five 1\n", 0),
        ("x | sort -rnk 2 | head -1", "", 2),
        ("x | wc", "       4       8      34\n", 0),
    ],
)
def test_filters_leave_what_they_say(line: str, left: str, status: int) -> None:
    if status == 2:
        with pytest.raises(Unread):
            through(parts_of(line)[1:], TEXT)
        return
    assert through(parts_of(line)[1:], TEXT) == (left, status)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ls > x", "bash: '>' is not simulated here"), ("ls; ls", "bash: ';' is not simulated here"),
        ("ls && ls", "bash: '&&' is not simulated"), ("ls | awk x", "bash: awk: behind | there are grep"),
        ("ls |", "bash: syntax error near"), ("ls | grep '[a]'", "grep: of patterns"),
        ("df -i", "df: -h and -k"), ("ls -l", "ls: names are simulated"), ("iostat", "iostat: the fig"),
        ("top", "top: the threads"), ("free -t", "free: -h"),
        ("mysql -e x", "bash: mysql: a console of its own"),
        ("perror --ndb 410", "perror: [ERROR] unknown option '--ndb'."),
    ],
)  # fmt: skip
def test_what_is_not_simulated_is_said(line: str, said: str, cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    assert consoles.answer(f"data1$ {line}").startswith(said)
    assert consoles.answer("data1$ echo $?") != "0\n"


def test_sizes_are_in_the_units_that_are_asked_for(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    plain, short = (consoles.answer(f"data1$ df {one}/c0d1").split()[-5:] for one in ("", "-h "))
    assert plain[0] == "292968750"
    assert short[0] == "279G"
    assert consoles.answer("data1$ free -h | grep Mem").split()[1:3] == ["8.0Gi", "7.6Gi"]
    assert consoles.answer("data1$ free -m | grep Mem").split()[1] == "8192"
    assert consoles.answer("data1$ echo $?") == "0\n"


def test_programs_are_those_of_the_release(begun: Callable[[str], LiveCluster]) -> None:
    old = Consoles(begun("7.4.10"))
    assert old.answer("app1$ perror --ndb 410").endswith(": Temporary error: Overload error\n")
    assert old.answer("app1$ ndb_perror 410").startswith("bash: ndb_perror: not in this release")


def test_a_client_of_a_host_carries_out_one_line_and_ends(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    shown = consoles.answer('data1$ ndb_mgm -e "ALL STATUS"')
    assert shown == consoles.answer("data1$ ndb_mgm --execute='ALL STATUS'")
    assert shown.startswith("Connected to management server at")
    assert shown.endswith(consoles.answer("ndb_mgm> ALL STATUS").partition("\n")[2])
    assert consoles.answer("data1$ ndb_mgm -eSHOW -e 'ALL STATUS' | grep started | wc -l") == "4\n"
    consoles.answer("data1$ ndb_mgm -e '77 STATUS'")
    assert consoles.answer("data1$ echo $?") == "255\n"
    assert consoles.answer("data1$ ndb_mgm").startswith("bash: ndb_mgm: a console of its own")


def test_values_of_options_keep_their_underscores(cluster: LiveCluster) -> None:
    """As a client of 8.4.8 was answered: `51,1` for its server of rank 1."""
    found = Consoles(cluster).answer("data1$ ndb_config --type=ndb_mgmd --query=nodeid,ArbitrationRank")
    assert found == "1,1\n"


@pytest.mark.parametrize(
    ("line", "begin"),
    [
        ("ndb_restore -n 3 -b 1 --print_meta", "ndbplan: ndb_restore --print-meta is not simulated"),
        (
            "ndb_restore -n 3 -b 1 --print-mta",
            "ndb_restore: [ERROR] ndb_restore: unknown option '--print-mta'",
        ),
        ("ndbmtd --version", "ndbplan: ndbmtd --version is not simulated"),
        ("ndbmtd --verzion", "ndbmtd: [ERROR] unknown option '--verzion'"),
        ("ndbmtd --ndb_nodeid=x", "2026"),
    ],
)
def test_options_of_the_product_are_not_called_unknown(line: str, begin: str, cluster: LiveCluster) -> None:
    assert Consoles(cluster).answer(f"data1$ {line}").startswith(begin)


def test_folders_are_named_from_the_data_directory_on_too(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    whole = next(line for line in consoles.answer("data1$ ls").splitlines() if line.endswith("ndb_3_fs"))
    assert consoles.answer("data1$ ls ndb_3_fs") == consoles.answer(f"data1$ ls {whole}")
    assert "D1\n" in consoles.answer("data1$ ls ./ndb_3_fs/")
    assert "No such file" in consoles.answer("data1$ ls db_3_fs")


def test_ndb_desc_knows_what_holds_disk_data() -> None:
    cluster = LiveCluster.begin(sample_plan("disk-data-8.4"), hours=0.1)
    say = Consoles(cluster).answer
    space = ["Type: Tablespace", "Name: ts_1", "Object Version: 1", "Extent Size: 1048576"]
    assert say("data1$ ndb_desc ts_1").splitlines() == [*space, "Default Logfile Group: lg_1", ""]
    group = say("data1$ ndb_desc lg_1").splitlines()
    assert group[:4] == ["Type: LogfileGroup", "Name: lg_1", "UndoBuffer size: 134217728", "Version: 1"]
    assert 0 < int(group[4].removeprefix("Free Words: ")) <= 21_474_836_480 // 4
    undo, data = say("data1$ ndb_desc undo_1.dat"), say("data1$ ndb_desc data_16")
    for node_id in (1, 2, 3, 4):
        assert (
            f"Type: Undofile\nName: undo_1.dat\nNode: {node_id}\nPath: undo_1.dat\nSize: 21474836480\n"
            in undo
        )
        assert (
            f"Type: Datafile\nName: data_16\nNode: {node_id}\nPath: data_16\nSize: 1073741824\nFree: " in data
        )
    assert data.count("Tablespace: ts_1") == 4
    assert say("data1$ ndb_desc nosuch") == "No such object: nosuch\n\n"


def test_ndb_desc_and_ndb_restore_tell_options_of_the_product_from_others(cluster: LiveCluster) -> None:
    """Letters may stand together; what is not simulated is said to be so, and what is none is refused."""
    table = cluster.plan.tables[0]

    def asked(line: str) -> str:
        return Consoles(cluster).answer(f"data1$ {line}")

    whole = asked(f"ndb_desc -d {table.database} {table.name} -p -n")
    assert "-- Per partition info -- " in whole
    assert asked(f"ndb_desc -d{table.database} -pn {table.name}") == whole
    assert asked(f"ndb_desc --database={table.database} --extra_partition_info -n {table.name}") == whole
    for line in ("ndb_desc -x", "ndb_desc --blob-info", "ndb_restore -d", "ndb_restore -A"):
        assert " is not simulated; there are " in asked(line), line
    for line in ("ndb_desc -Q", "ndb_desc --nonsense", "ndb_desc -pQ t", "ndb_restore -a"):
        assert ": unknown option '-" in asked(line), line
