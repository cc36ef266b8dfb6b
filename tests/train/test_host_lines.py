"""The shell of a host: pipes, exit statuses, units, and options that are not simulated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.configuration.settings import node_settings
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.events.configuration import coming, is_rolling
from ndbplan.train.configuring import node_plan, server_plan
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
        ("x | grep 'one|five'", "", 1),
        ("x | grep '^one\\|five'", "one 10\ntwo.five 1\n", 0),
        ("x | grep -E ' [0-9]{2,3}$'", "one 10\nThree 100\n", 0),
        ("x | grep ' [0-9]\\{3\\}'", "Three 100\n", 0),
        ("x | grep '[[:digit:]]\\+0$'", "one 10\nThree 100\n", 0),
        ("x | grep -w two", "two 9\ntwo.five 1\n", 0),
        ("x | grep -w fiv", "", 1),
        ("x | grep '\\<t'", "two 9\ntwo.five 1\n", 0),
        ("x | grep -on '[0-9]*'", "1:10\n2:9\n3:100\n4:1\n", 0),
        ("x | grep -E '(e|e|e|e)*$x'", "", 1),
        ("x | grep '*1'", "", 1),
        ("x | grep '*'", "", 1),
        ("x | grep '|'", "", 1),
        ("x | grep 'one\\|(' | wc -l", "1\n", 0),
        ("x | grep -E ' 1{1,3}0'", "one 10\nThree 100\n", 0),
        ("x | grep -E 'x{1'", "", 1),
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
        ("ls | grep '[:alpha:]'", "grep: character class syntax is [[:space:]], not [:space:]"),
        ("ls | grep 'a\\{1'", "grep: Unmatched \\{"), ("ls | grep 'a\\{2,1\\}'", "grep: Invalid content of"),
        ("ls | grep '[[:foo:]]'", "grep: Invalid character class name"),
        ("ls | grep '[z-a]'", "grep: Invalid range end"),
        ("ls | grep 'a\\'", "grep: Trailing backslash"),
        ("ls |", "bash: syntax error near"), ("ls | grep '[a'", "grep: Unmatched ["),
        ("ls | grep -E '(a'", "grep: Unmatched ("), ("ls | grep -P a", "grep: option '-P' is not"),
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
        ("ndbmtd --usage", "ndbplan: ndbmtd --usage is not simulated"),
        ("ndbmtd --verzion", "ndbmtd: [ERROR] unknown option '--verzion'"),
        ("ndbmtd --ndb_nodeid=x", "2026"),
    ],
)
def test_options_of_the_product_are_not_called_unknown(line: str, begin: str, cluster: LiveCluster) -> None:
    assert Consoles(cluster).answer(f"data1$ {line}").startswith(begin)


def test_programs_of_ndb_tell_the_server_and_the_engine_that_they_are_of(
    begun: Callable[[str], LiveCluster],
) -> None:
    """Manual of 8.0, What is New in NDB Cluster: `ndb_mgm -V`; ndb_std_print_version of the source."""
    for version, names in (("8.4.8", "mysql-8.4.8 ndb-8.4.8"), ("7.4.10", "mysql-5.6.28 ndb-7.4.10")):
        consoles = Consoles(begun(version))
        for line in ("ndb_mgm -V", "ndbd --version", "ndb_desc -d test -V t", "ndb_restore --version"):
            answer = consoles.answer(f"data1$ {line}")
            assert answer == f"MySQL distrib {names}, for Linux (x86_64)\n"
        assert consoles.answer("data1$ echo $?") == "0\n"


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
    for line in ("ndb_desc -x", "ndb_desc --blob-info", "ndb_restore -d", "ndb_restore -u"):
        assert " is not simulated; there are " in asked(line), line
    for line in ("ndb_desc -Q", "ndb_desc --nonsense", "ndb_desc -pQ t", "ndb_restore -a"):
        assert ": unknown option '-" in asked(line), line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ndb_desc -d", "ndb_desc: [ERROR] ndb_desc: option '-d' requires an argument.\n"),
        ("ndb_waiter -n", "ndb_waiter: [ERROR] option '-n' requires an argument.\n"),
        ("ndb_waiter app1:1186 --wait-nodes=3", "Node 3: STARTED\n"),
        ("ndb_waiter -w3 --timeo=1", "Node 3: STARTED\n"),
        ("ndb_waiter --verbose=1", "ndbplan: ndb_waiter --verbose is not simulated"),
        ("ndb_waiter nowhere", "Unable to connect with connect string: nowhere\n"),
        ("ndb_config -c nowhere --query=nodeid", "Unable to connect to management server.\n"),
        ("ndb_config -c app1:1187 --query=nodeid", "Unable to connect to management server.\n"),
        ("ndb_config -c nodeid=7,app1:1186 --query=nodeid --nodeid=3", "3\n"),
        ("ndb_config --config-file=config.ini --query=nodeid", "Error opening 'config.ini', error: 2"),
        ("ndb_desc -c nowhere -d test x", "Unable to connect to management server.\n"),
        ("ndb_show_tables -c nowhere", "Unable to connect to management server.\n"),
        ("ndb_select_count -c nowhere -d test x", "Unable to connect to management server.\n"),
        ("ndb_select_count -l 1 -p 2 -d test nosuch", " Table nosuch does not exist!\n"),
        ("ndb_select_count -d test", "Usage: ndb_select_count"),
        ("ndb_show_tables -d test nosuch", "listIndexes: 723: "),
        ("ndb_show_tables -t x", "ndb_show_tables: [ERROR] Unknown suffix used for variable 'type'"),
        ("ndb_mgm -c nowhere -e SHOW", "ERROR: Unable to connect with connect string: nodeid=0,nowhere:1186"),
        ("ndb_mgm app1 1186 -t3 -e 'ALL STATUS'", "Connected to management server at app1 port 1186"),
        ("ndb_mgm -e", "ndb_mgm: [ERROR] option '-e' requires an argument.\n"),
        ("ndb_perror -1", "ndb_perror: [ERROR] unknown option '-1'.\n"),
        ("ndb_perror --help", "Usage: ndb_perror"),
        ("ls *", "bash: *, ? and [ in names are not simulated here\n"),
        ("ls -Q", "ls: names are simulated here"),
        ("tail -n x ndb_3_out.log", "tail: invalid number of lines: 'x'\n"),
        ("tail -c 20 ndb_3_out.log", "tail: -n and -f are simulated here\n"),
        ("iostat -cdx", "iostat: the fig"),
    ],
)  # fmt: skip
def test_options_are_those_of_the_programs(line: str, said: str, cluster: LiveCluster) -> None:
    assert Consoles(cluster).answer(f"data1$ {line}").startswith(said)


def test_filters_of_programs_show_less_of_the_same(cluster: LiveCluster) -> None:
    def ask(host: str, line: str) -> str:
        return Consoles(cluster).answer(f"{host}$ {line}")

    whole = ask("data1", "iostat -kx")
    assert ask("data1", "iostat -cx") + ask("data1", "iostat -dx").partition("\n\n")[2] == whole
    named = ask("data1", "iostat -dx c0d1").splitlines()
    assert [line for line in named if line.startswith("c0d")] == [
        line for line in whole.splitlines() if line.startswith("c0d1")
    ]
    log = ask("app1", "tail -n 10000 ndb_1_cluster.log").splitlines()
    assert ask("app1", "tail -n2 ndb_1_cluster.log").splitlines() == log[-2:]
    assert ask("app1", "tail --lines=+3 ndb_1_cluster.log").splitlines() == log[2:]
    assert ask("app1", "tail -1 ndb_1_cluster.log nosuch").splitlines() == [
        "==> ndb_1_cluster.log <==", log[-1],
        "tail: cannot open 'nosuch' for reading: No such file or directory",
    ]  # fmt: skip
    assert ask("data1", "free -m -h") == ask("data1", "free -hm") == ask("data1", "free -h")
    assert ask("data1", "ndb_perror 410") == "NDB error code 410: " + ask("data1", "ndb_perror -s 410")


def test_ndb_config_lists_all_that_it_can_be_asked_for(cluster: LiveCluster) -> None:
    """Names, their order, and numbers for words: recorded on a running 8.4.8."""

    def ask(options: str) -> str:
        return Consoles(cluster).answer(f"app1$ ndb_config {options}").removesuffix("\n")

    names, *rows = (line.split(",") for line in ask(r"--query-all --rows='\n'").splitlines())
    assert [one for one in names if one in ("DB", "API", "MGM")] == ["DB", "API", "MGM"]
    assert names[:5] == ["nodeid", "host", "type", "DB", "MaxNoOfSubscriptions"]
    assert {len(row) for row in rows} == {len(names)} == {237}
    by_node = {row[0]: row for row in rows}
    node = dict(zip(reversed(names), reversed(by_node["3"]), strict=True))
    assert (node["Arbitration"], node["wan"], node["NoOfReplicas"], node["PortNumber"]) == ("1", "", "2", "")
    assert node["DataDir"] == node["FileSystemPath"] == node["BackupDataDir"] == "/c0d1/mysqlcluster"
    server = list(zip(names, by_node["1"], strict=True))
    assert [value for name, value in server if name == "RequireTls"] == ["", "0"]
    assert dict(server)["DataDir"] == "/var/lib/mysql-cluster"
    of_client = dict(zip(names, by_node["49"], strict=True))
    assert (of_client["DefaultOperationRedoProblemAction"], of_client["DataMemory"]) == ("1", "")
    assert ask("--config-file=config.ini -q nodeid -t ndbd") == ask("-q nodeid -t ndbd") == "3 4 5 6"


def test_ls_knows_where_disks_are_mounted_and_what_a_data_node_made_there() -> None:
    """Folders of node 2 of a running 8.4.8: D1, D2, D8 to D11, LCP, LG, TS; redo files: manual."""
    consoles = Consoles(LiveCluster.begin(sample_plan("disk-data-8.4")))

    def names(folder: str = "") -> list[str]:
        return consoles.answer(f"data1$ ls {folder}").splitlines()

    assert names("ndb_1_fs") == ["D1", "D10", "D11", "D2", "D8", "D9", "LCP", "LG", "TS"]
    assert names("ndb_1_fs/D8/DBLQH")[:2] == ["S0.FragLog", "S1.FragLog"]
    assert names("ndb_1_out.log") == ["ndb_1_out.log"]
    assert "is not simulated here" in names("ndb_1_fs/D1")[0]
    mounts = [line.split()[-1] for line in consoles.answer("data1$ df -h").splitlines()[1:]]
    assert mounts
    assert all(mount.strip("/") in names("/") for mount in mounts)
    for folder in names():
        for above in (folder, folder.rpartition("/")[0] or "/"):
            assert "No such file" not in "".join(names(above)), above
        assert folder.rpartition("/")[2] in names(folder.rpartition("/")[0] or "/")
    before = names()
    assert any(
        one.startswith("data_") for folder in before if folder.endswith("/TS") for one in names(folder)
    )
    consoles.answer("! move undo,data_files to nvme0")
    consoles.answer("! until rolling < 1 within 60min")
    moved = [folder for folder in names() if folder.endswith(("/TS", "/LG"))]
    assert moved
    assert not set(moved) & set(before), "they lie on another disk now"


def test_iostat_has_what_a_start_reads_and_writes() -> None:
    cluster = LiveCluster.begin(sample_plan("disk-data-8.4"))
    consoles = Consoles(cluster)

    def moved_kib(column: int) -> float:
        found = consoles.answer("data1$ iostat -kx 1").splitlines()
        return sum(float(line.split()[column]) for line in found if line.startswith("nvme"))

    read, written = 2, 8
    assert moved_kib(read) == 0.0
    for line in ("! load x0", "! wait 30s", "! kill node:1", "! wait 5s", "! start node:1"):
        consoles.answer(line)
    cluster.advance_until(lambda one: one.state.nodes[1].status == "starting", 60.0)
    seen = set[str]()
    for _ in range(600):
        restart = cluster.session.simulation.restarts[-1]
        number = restart.phase_at(cluster.now_s)
        if number is None:
            break
        name = restart.phases[number][0]
        assert (moved_kib(read) > 0.0) is (name == "restore from local checkpoint"), name
        seen.add(name)
        cluster.advance(1.0)
    assert "restore from local checkpoint" in seen
    assert moved_kib(read) == 0.0
    made_kib = 0.0
    for line in ("! kill node:1", "! wait 5s", "data1$ ndbmtd --initial", "! wait 4s"):
        consoles.answer(line)
    for _ in range(30):
        cluster.advance(1.0)
        made_kib = max(made_kib, moved_kib(written))
    assert made_kib > 100_000.0, "undo and data files are made in full"


def test_df_has_the_backups_that_were_made_and_no_other() -> None:
    cluster = LiveCluster.begin(sample_plan("starter"))
    consoles = Consoles(cluster)

    def used_kib() -> int:
        lines = consoles.answer("host-a1$ df").splitlines()[1:]
        return sum(int(line.split()[2]) for line in lines)

    before = used_kib()
    consoles.answer("ndb_mgm> START BACKUP")
    (run,) = cluster.state.backups
    made = dict(run.bytes_by_node)[1] + run.log_bytes / 2
    assert used_kib() - before == pytest.approx(made / 1024, abs=2)


def test_ndb_config_asks_the_server_which_knows_before_the_nodes_do_and_names_are_in_any_case() -> None:
    """Manual, ndb_config: its source is the management server, a file or a node."""
    consoles = Consoles(LiveCluster.begin(sample_plan("redo-overload-8.4")))
    values = (
        "mysql> SELECT v.config_value FROM ndbinfo.config_values v JOIN ndbinfo.config_params p "
        "ON v.config_param = p.param_number WHERE p.param_name = 'RedoBuffer' ORDER BY v.node_id;"
    )

    def ask(options: str, name: str = "RedoBuffer") -> str:
        return consoles.answer(f"app1$ ndb_config -t ndbd -q {name} {options}").strip()

    def in_nodes() -> list[str]:
        return [line.strip("| ") for line in consoles.answer(values).splitlines()[3:5]]

    before, after = str(64 * 2**20), str(96 * 2**20)
    assert ask("", "redobuffer") == ask("") == f"{before} {before}"
    consoles.answer("! edit RedoBuffer=96M")
    assert ask("--config-file=config.ini") == f"{after} {after}"
    assert ask("") == f"{before} {before}"
    for line in ("ndb_mgm> 145 STOP", "app1$ ndb_mgmd -f config.ini --reload", "! wait 4s"):
        consoles.answer(line)
    assert ask("") == f"{after} {after}"
    assert ask("--config-from-node=1") == f"{before} {before}"
    assert in_nodes() == [before, before]
    for line in ("ndb_mgm> 1 RESTART", "! until nodes_started 2 within 15min", "! wait 3s"):
        consoles.answer(line)
    assert (ask("--config-from-node=1"), ask("--config-from-node=2")) == (
        f"{after} {after}", f"{before} {before}",
    )  # fmt: skip
    assert in_nodes() == [after, before]


def test_a_rolling_restart_brings_a_value_node_after_node_and_the_server_has_it_before() -> None:
    cluster = LiveCluster.begin(sample_plan("redo-overload-8.4"))
    consoles = Consoles(cluster)
    sim = cluster.session.simulation

    def in_nodes() -> list[int]:
        sim = cluster.session.simulation
        return [node_settings(node_plan(sim, i)).number("RedoBuffer") >> 20 for i in (1, 2)]

    assert coming(sim) is None
    consoles.answer("! set RedoBuffer=96M")
    assert node_settings(server_plan(cluster.session.simulation)).number("RedoBuffer") == 96 << 20
    seen = [in_nodes()]
    while is_rolling(cluster.session.simulation):
        cluster.advance(1.0)
        if in_nodes() != seen[-1]:
            seen.append(in_nodes())
    assert seen == [[96, 64], [96, 96]], "node 1 is down at once, and has it when it is back"


def test_a_restore_gives_back_every_row_once(begun: Callable[[str], LiveCluster]) -> None:
    """Five rows in four files; lines of a restore: recorded on a running 8.4.8."""
    consoles = Consoles(begun("8.4.8"))
    consoles.answer("mysql> CREATE TABLE test.five (id INT PRIMARY KEY, k INT, KEY k (k)) ENGINE=NDB")
    consoles.answer("mysql> INSERT INTO test.five VALUES (1,1),(2,2),(3,3),(4,4),(5,5)")
    consoles.answer("ndb_mgm> START BACKUP")
    consoles.answer("mysql> DROP TABLE test.five")
    only = "--include-tables=test.five"
    made = consoles.answer(f"data1$ ndb_restore -n3 -b1 -m {only}")
    assert [line[20:] for line in made.splitlines()[-12:]] == [
        "Connected to NDB", "[restore_metadata] Restore objects (tablespaces, ..)",
        "[restore_metadata] Restoring tables", "Successfully created table test/def/five",
        "Successfully restored table `test/def/five`", "[restore_metadata] Save foreign key info",
        "Successfully created index `PRIMARY` on `five`", "Successfully created index `k` on `five`",
        "Create foreign keys", "Create foreign keys done", "[restore_data] Start restoring table data",
        "Data and log restore successful",
    ]  # fmt: skip
    said = [consoles.answer(f"data{at}$ ndb_restore -n {2 + at} -b 1 -r -p 32 {only}") for at in (1, 2, 3, 4)]
    assert all("Parallelism for single restore instance is 32\n" in one for one in said)
    rows = [int(one.partition("Restored ")[2].split()[0]) for one in said]
    assert sum(rows) == 5
    assert consoles.answer("data1$ ndb_select_count -d test five").startswith("5 records")
    assert "[restore_epoch] Restoring epoch" in consoles.answer("data1$ ndb_restore -n 3 -b 1 -e")
    none = consoles.answer("data1$ ndb_restore -n 3 -b 1 -m --exclude-databases=test")
    assert "Excluding databases: test \n" in none
    assert "Successfully created" not in none


_FILES = [(1, 3), (2, 4), (3, 5), (4, 6)]
"""Hosts data1 to data4, and the node on each."""


def _brings_back(consoles: Consoles, table: str, backup: int = 1) -> None:
    for host, node_id in _FILES:
        line = f"data{host}$ ndb_restore -n {node_id} -b {backup} -r --include-tables={table}"
        assert "restore successful" in consoles.answer(line)


def test_typed_rows_come_back_with_their_values(begun: Callable[[str], LiveCluster]) -> None:
    """Over what was changed and deleted, and into a table that is made anew; what came since stays."""
    consoles = Consoles(begun("8.4.8"))
    names = "id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20), d DECIMAL(6,2)"
    consoles.answer(f"mysql> CREATE TABLE test.v ({names}) ENGINE=NDB")
    consoles.answer("mysql> INSERT INTO test.v VALUES (1,'anna',1.5),(7,NULL,2),(900,'carl',NULL)")
    whole = consoles.answer("mysql> SELECT * FROM test.v ORDER BY id")
    assert "anna" in whole
    consoles.answer("ndb_mgm> START BACKUP")
    consoles.answer("mysql> UPDATE test.v SET name = 'other' WHERE id = 7")
    consoles.answer("mysql> DELETE FROM test.v WHERE id = 1")
    _brings_back(consoles, "test.v")
    assert consoles.answer("mysql> SELECT * FROM test.v ORDER BY id") == whole
    consoles.answer("mysql> INSERT INTO test.v VALUES (8,'dora',0)")
    _brings_back(consoles, "test.v")
    assert consoles.answer("mysql> SELECT * FROM test.v WHERE id <> 8 ORDER BY id") == whole
    assert "dora" in consoles.answer("mysql> SELECT * FROM test.v")
    consoles.answer("mysql> DROP TABLE test.v")
    consoles.answer("data1$ ndb_restore -n 3 -b 1 -m --include-tables=test.v")
    _brings_back(consoles, "test.v")
    assert consoles.answer("mysql> SELECT * FROM test.v ORDER BY id") == whole
    consoles.answer("mysql> INSERT INTO test.v (name) VALUES ('next')")
    last = consoles.answer("mysql> SELECT id FROM test.v WHERE name = 'next'")
    assert int(last.splitlines()[3].strip("| ")) > 900


def test_rows_that_nobody_typed_come_back_where_others_stand(begun: Callable[[str], LiveCluster]) -> None:
    """Samples that had gone or changed before the backup stay so; those that did since are as they were."""
    consoles = Consoles(begun("8.4.8"))
    consoles.answer("! load x0")
    table, asked = "test.blobs_1k", "mysql> SELECT id FROM test.blobs_1k WHERE id < 9 ORDER BY id"
    counted = f"mysql> SELECT COUNT(*) FROM {table}"
    consoles.answer(f"mysql> DELETE FROM {table} WHERE id IN (2, 5)")
    consoles.answer(f"mysql> INSERT INTO {table} (id) VALUES (5)")
    whole, count = consoles.answer(asked), consoles.answer(counted)
    consoles.answer("ndb_mgm> START BACKUP")
    consoles.answer(f"mysql> DELETE FROM {table} WHERE id IN (1, 3, 5)")
    consoles.answer(f"mysql> INSERT INTO {table} (id) VALUES (3)")
    _brings_back(consoles, table)
    assert consoles.answer(asked) == whole
    assert consoles.answer(counted) == count
    consoles.answer(f"mysql> TRUNCATE TABLE {table}")
    consoles.answer(f"mysql> INSERT INTO {table} (id) VALUES (4)")
    _brings_back(consoles, table)
    assert consoles.answer(asked) == whole
    assert consoles.answer(counted) == count


@pytest.mark.parametrize(("kind", "held"), [("SNAPSHOTSTART", 1), ("SNAPSHOTEND", 2), ("", 2)])
def test_a_backup_holds_the_rows_of_its_begin_or_its_end(
    begun: Callable[[str], LiveCluster], kind: str, held: int
) -> None:
    """Source: manual, START BACKUP: SNAPSHOTSTART and SNAPSHOTEND; SNAPSHOTEND is the default."""
    consoles = Consoles(begun("8.4.8"))
    consoles.answer("mysql> CREATE TABLE test.v (id INT PRIMARY KEY) ENGINE=NDB")
    consoles.answer("mysql> INSERT INTO test.v VALUES (1)")
    consoles.answer(f"ndb_mgm> START BACKUP {kind} WAIT STARTED")
    consoles.answer("mysql> INSERT INTO test.v VALUES (2)")
    consoles.answer("! wait 10min")
    consoles.answer("mysql> TRUNCATE TABLE test.v")
    _brings_back(consoles, "test.v")
    assert consoles.answer("mysql> SELECT COUNT(*) n FROM test.v").splitlines()[3] == f"| {held} |"


_ALTERED = "test/def/v table structure incompatible with backup's ... Exiting"


@pytest.mark.parametrize(
    ("alter", "options", "told", "comes_back"),
    [
        ("DROP COLUMN name", "",
         ["Missing column(test/def/v.name) in DB and exclude-missing-columns not specified",
          _ALTERED], False),
        ("DROP COLUMN name", "--exclude-missing-columns",
         ["Column in backup (test/def/v.name) missing in DB. Excluding column from restore."], True),
        ("ADD COLUMN x INT", "",
         ["Missing column(test/def/v.x) in backup and exclude-missing-columns not specified",
          _ALTERED], False),
        ("ADD COLUMN x INT", "--exclude-missing-columns",
         ["Column in DB (test/def/v.x) missing in Backup. Will be set to Null."], True),
        ("ADD COLUMN x INT NOT NULL DEFAULT 5", "--exclude_missing_columns",
         ["missing in Backup. Will be set to Default value."], True),
        ("MODIFY n BIGINT", "",
         ["Column test/def/v.n n has different type in DB; promotion or lossy type conversion",
          "  Difference(s) cannot be ignored.  Column requires conversion to restore.",
          "column: n promotable to kernel's definition but option promote-attributes not specified",
          _ALTERED], False),
        ("MODIFY n BIGINT", "-A",
         ["Data for column test/def/v.n will be converted from Backup type into DB type."], True),
        ("MODIFY n INT UNSIGNED", "--promote-attributes",
         ["convertable to kernel's definition but option lossy-conversions not specified"], False),
        ("MODIFY name VARCHAR(40)", "",
         ["Column test/def/v.name length is different in the DB", "promote-attributes not specified"], False),
        ("MODIFY name VARCHAR(9)", "-A",
         ["convertable to kernel's definition but option lossy-conversions not specified"], False),
        ("MODIFY name VARCHAR(9)", "-L", ["ndbplan: what --lossy-conversions makes of values"], False),
        ("MODIFY n VARCHAR(9)", "-A -L",
         ["incompatible with kernel's definition. Conversion not possible"], False),
        ("MODIFY n INT DEFAULT 7", "",
         ["Column test/def/v.n Default value is different in the DB",
          "  Difference(s) will be ignored during restore."], True),
    ],
)  # fmt: skip
def test_a_table_that_was_altered_since_is_held_against_the_backup(
    alter: str, options: str, told: list[str], comes_back: bool, begun: Callable[[str], LiveCluster]
) -> None:
    """Source: consumer_restore.cpp, table_compatible_check."""
    consoles = Consoles(begun("8.4.8"))
    consoles.answer("mysql> CREATE TABLE test.v (id INT PRIMARY KEY, name VARCHAR(20), n INT) ENGINE=NDB")
    consoles.answer("mysql> INSERT INTO test.v VALUES (1,'anna',3),(2,'bert',4)")
    consoles.answer("ndb_mgm> START BACKUP")
    consoles.answer("mysql> DELETE FROM test.v")
    assert consoles.answer(f"mysql> ALTER TABLE test.v {alter}").startswith("Query OK")
    said = ""
    for host, node_id in _FILES:
        line = f"data{host}$ ndb_restore -n {node_id} -b 1 -r --include-tables=test.v {options}"
        said += consoles.answer(line)
    for part in told:
        assert part in said, said
    assert ("restore successful" in said) is comes_back
    assert f"{2 * comes_back} rec" in consoles.answer("data1$ ndb_select_count -d test v").replace("ords", "")
    if "DEFAULT 5" in alter:
        assert consoles.answer("mysql> SELECT x FROM test.v").count(" 5 |") == 2


def test_log_entries_of_a_backup_come_back_where_they_were_counted(
    begun: Callable[[str], LiveCluster],
) -> None:
    """The files of all nodes hold as many as the management client told."""
    consoles = Consoles(begun("8.4.8"))
    counted = consoles.answer("ndb_mgm> START BACKUP").partition("#LogRecords: ")[2].split()[0]

    def entries(options: str) -> int:
        said = [consoles.answer(f"data{at}$ ndb_restore -n {node} -b 1 -r {options}") for at, node in _FILES]
        return sum(int(one.partition(" tuples and ")[2].split()[0]) for one in said)

    assert entries("") == int(counted) > entries("--include-tables=test.blobs_1k") > 0
    assert entries("--include-tables=test.nosuch") == 0


@pytest.mark.parametrize("sample", ["starter", "disk-data-8.4"])
def test_every_folder_that_is_told_of_can_be_listed_from_the_root_on(sample: str) -> None:
    consoles = Consoles(LiveCluster.begin(sample_plan(sample), hours=0.5))
    for host in consoles.cluster.plan.hosts:
        prompt = f"{host.hostname}$"
        mounts = [line.split()[-1] for line in consoles.answer(f"{prompt} df").splitlines()[1:] if line]
        told = [line for line in consoles.answer(f"{prompt} ls").splitlines() if line]
        for path in (*mounts, *told):
            parts = path.strip("/").split("/")
            for depth, part in enumerate(parts):
                above = "/" + "/".join(parts[:depth])
                assert part in consoles.answer(f"{prompt} ls {above}").splitlines(), (path, above)
            for name in consoles.answer(f"{prompt} ls {path}").split():
                assert "No such file" not in consoles.answer(f"{prompt} ls {path.rstrip('/')}/{name}")
