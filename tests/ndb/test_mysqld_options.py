"""Options of mysqld: their values by version, and where they go."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.checks.fix import fix_all
from ndbplan.checks.run import check
from ndbplan.configuration.difference import diff
from ndbplan.configuration.mysqld import has_gtids
from ndbplan.configuration.needs import CannotChangeError, needs
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.exporting.my_cnf import render_my_cnf
from ndbplan.ndb.mysqld_options import (
    canonical,
    ends_mysqld,
    fault,
    flag_of,
    option,
    options,
    sql_variables,
    who_has,
)
from ndbplan.ndb.version import NdbVersion
from ndbplan.operations.accounts import dump
from ndbplan.operations.commands import Shell
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from one_rule import of_rule

STARTER = sample_plan("starter")


def with_option(name: str, value: int | str, version: str = "8.4") -> Plan:
    plan = set_plan(STARTER, ndb_version=version)
    return update(plan, plan.sql_nodes[0].id, options={name: value})


@pytest.mark.parametrize(
    ("name", "release", "before", "after"),
    [
        ("ndb-autoincrement-prefetch-sz", "8.0.19", 1, 512),
        ("NDB_WAIT_SETUP", "8.0.27", 30, 120),
        ("ndb_read_backup", "8.0.19", 0, 1),
    ],
)
def test_defaults_by_version(name: str, release: str, before: int, after: int) -> None:
    major, minor, patch = map(int, release.split("."))
    older, newer = (option(name, NdbVersion(major, minor, n)) for n in (patch - 1, patch))
    assert older is not None
    assert newer is not None
    assert (older.default, newer.default) == (before, after)


@pytest.mark.parametrize(
    ("name", "value", "version", "why"),
    [
        (
            "sql_mode",
            "NO_ZERO_DATE, no_auto_create_user",
            "8.0",
            "has no NO_AUTO_CREATE_USER since NDB 8.0; ",
        ),
        ("sql-mode", "MAXDB,ORACLE", "8.4.8", "has no MAXDB, ORACLE since NDB 8.0; mysqld would not start"),
        (
            "log_bin",
            "/var/log/bin",
            "8.4",
            "log-bin is in /var/log, where root alone makes files; mysqld would",
        ),
        ("log_bin", "/tmp/bin", "8.4", ""),
        ("skip-ndbcluster", "", "8.4", "ndbcluster follows from every SQL node has it"),
        ("binlog_format", "row", "8.4", ""),
        ("binlog_format", "R", "7.4.10", ""),
        ("binlog_format", "2", "7.4.10", ""),
        ("binlog_format", "3", "7.4.10", "is one of MIXED, STATEMENT, ROW, not 3; mysqld would not start"),
        ("binlog_format", "rows", "9.x", "is one of MIXED, STATEMENT, ROW, not rows"),
        ("ndb_default_column_format", "SPARSE", "7.6", "is one of FIXED, DYNAMIC, not sparse"),
        ("ndb_slave_conflict_role", "", "8.4", "is one of NONE, SECONDARY, PRIMARY, PASS, not nothing"),
        ("ndb_applier_conflict_role", "PRIMARY", "8.0.22", "came with 8.0.23"),
        ("ndb_applier_conflict_role", "PRIMARY", "8.0.23", ""),
        ("ndb_mgm_tls", "strict", "8.0.40", "came with 8.3.0"),
        ("ndb_mgm_tls", "strict", "8.3", ""),
        ("gtid_mode", "OFF_PERMISSIVE", "7.4.10", "is one of OFF, UPGRADE_STEP_1, UPGRADE_STEP_2, ON"),
        ("gtid_mode", "OFF_PERMISSIVE", "7.5", ""),
        ("character_set_server", "utf8mb4", "7.1", "is one of big5, "),
        ("character_set_server", "utf8mb4", "7.2", ""),
        ("character_set_server", "utf16le", "7.2", "not utf16le"),
        ("character_set_server", "gb18030", "7.4.10", "not gb18030"),
        ("character_set_server", "gb18030", "7.5", ""),
        ("default_storage_engine", "ndbcluster", "8.4", ""),
        ("default_storage_engine", "ndbd", "8.4", "not ndbd; mysqld would not start with it"),
        ("sync_binlog", 2**32, "8.0", "goes from 0 to 4294967295"),
        ("binlog_cache_size", "4095", "7.6", "goes from 4096 to"),
        ("max_binlog_size", "2G", "8.4", "goes from 4096 to 1073741824, not 2g; mysqld takes 1073741824"),
        ("lower_case_table_names", 3, "8.0", "goes from 0 to 2"),
        ("thread_cache_size", 16385, "8.4", "goes from 0 to 16384"),
        ("table_open_cache", 0, "7.4.10", "goes from 1 to 524288"),
        ("max_allowed_packet", "2G", "8.4", "goes from 1024 to 1073741824"),
        (
            "replica_parallel_workers",
            4,
            "8.0.25",
            "came with NDB 8.0.26, before it is slave-parallel-workers",
        ),
        ("ndb_extra_logging", 300, "8.4", ""),
        ("ndb_cache_check_time", 10, "8.0.30", "is gone since NDB 8.0"),
        ("ndb_report_thresh_binlog_epoch_slip", 257, "7.6", "goes from 0 to 256"),
        ("ndb_log_transaction_compression_level_zstd", 23, "8.0.31", "goes from 1 to 22"),
        ("ndb_metadata_sync", "ON", "8.0.18", "came with 8.0.19"),
        ("storage_engine", "NDB", "7.5", "default-storage-engine takes its place"),
        ("timed-mutexes", "ON", "7.5", "gone since NDB 7.5"),
        ("ndb-batch-size", 2**31, "8.4", ""),
        ("ndb-batch-size", 2**31, "7.4", "goes from 0 to 31536000, not 2147483648"),
        ("ndb-batch-size", 2**31, "7.5.25", "goes from 0 to 31536000"),
        ("ndb-batch-size", 2**31, "7.5.26", ""),
        ("ndb-batch-size", 2**31, "7.6.21", "goes from 0 to 31536000"),
        ("ndb-batch-size", 2**31, "7.6.22", ""),
        ("ndb-batch-size", 2**31, "8.0.28", "goes from 0 to 31536000"),
        ("ndb-eventbuffer-max-alloc", 2**32, "8.0.25", "goes from 0 to 4294967295"),
        ("ndb-eventbuffer-max-alloc", 2**32, "8.0.26", ""),
        ("ndb-row-checksum", "ON", "7.6.7", "came with 7.6.8"),
        ("ndb-schema-dist-timeout", 60, "8.0.16", "came with 8.0.17"),
        ("ndb-data-node-neighbour", 1, "7.5.1", "came with 7.5.2"),
        ("ndb-allow-copying-alter-table", "ON", "7.4.10", "came with 7.5"),
        ("ndb-recv-thread-activation-threshold", 8, "7.2.10", "came with 7.3"),
        ("ndb-recv-thread-activation-threshold", 8, "7.4.10", ""),
        ("ndb_use_transactions", "maybe", "8.4", "is ON or OFF, not maybe"),
        ("ndb-metadata-check", "ON", "7.6", "came with 8.0.16"),
        ("ndb_cluster_connection_pool", 4, "8.4", "follows from the node ids of its pool"),
        ("query_cache_size", "64M", "8.0", "query-cache-size is gone since NDB 8.0"),
        ("expire_logs_days", 7, "8.4", "gone since NDB 8.2; binlog-expire-logs-seconds takes its place"),
        ("relay_log_info_repository", "TABLE", "8.4", "gone since NDB 8.3"),
        ("character_set_client_handshake", "ON", "8.3", "gone since NDB 8.3"),
        ("log_replica_updates", 1, "7.4.10", "came with NDB 8.0.26, before it is log-slave-updates"),
        ("log_replica_updates", 1, "8.0.25", "came with NDB 8.0.26, before it is log-slave-updates"),
        ("log_error_verbosity", 3, "7.4.10", "came with NDB 7.5, before it is log-warnings"),
        ("ndb-wait-setup", "soon", "8.4", "is a whole number, as 65536 or 64K, not soon"),
    ],
)
def test_values_that_are_taken(name: str, value: int | str, version: str, why: str) -> None:
    assert why in fault(name, value, NdbVersion.parse(version))
    found = of_rule(with_option(name, value, version), "mysqld-options")
    assert bool(found) == bool(why)


@pytest.mark.parametrize(
    ("name", "value", "version"),
    [
        ("sql-mode", "NO_AUTO_CREATE_USER", "7.6"),
        ("sql-mode", "NO_ZERO_DATE,TRADITIONAL", "8.4"),
        ("sql-mode", "", "8.4"),
        ("storage_engine", "NDB", "7.4"),
    ],
)
def test_releases_that_still_take_it(name: str, value: str, version: str) -> None:
    assert ends_mysqld(name, value, NdbVersion.parse(version)) == ""


@pytest.mark.parametrize(("name", "value"), [("ndb-batch-size", 2**40), ("log-bin", "x")])
def test_a_fix_of_an_option_leaves_those_of_other_problems(name: str, value: int | str) -> None:
    plan = set_parameter(with_option(name, value, "7.6"), "data_node", "NoOfSuchThings", 1)
    found = check(plan)
    assert {"mysqld-options", "unknown-parameter"} <= {one.rule for one in found if one.edit is not None}
    mended = fix_all(plan).plan
    assert {"mysqld-options", "unknown-parameter"}.isdisjoint(one.rule for one in check(mended))


@pytest.mark.parametrize(
    ("name", "version", "why"),
    [
        ("ndb_log_purge_rate", "7.4.10", "ndb-log-purge-rate came after NDB 7.4.10"),
        ("ndb_log_update_minimal", "7.4.10", "came with 7.5.7"),
        ("ndb_log_update_minimal", "7.5.7", ""),
        ("ndb_log_update_minimal", "7.6.2", "came with 7.6.3"),
        ("skip-ndb_log_update_minimal", "7.6.2", "came with 7.6.3"),
        ("ndb_log_fail_terminate", "7.4.10", "came with 7.5.18"),
        ("ndb_log_fail_terminate", "7.5.18", ""),
        ("ndb_log_fail_terminate", "7.6.13", "came with 7.6.14"),
        ("ndb_log_fail_terminate", "7.6.14", ""),
        ("ndb_default_column_format", "7.5.0", "came with 7.5.1"),
        ("ndb_tls_search_path", "8.0.40", "came with 8.3.0"),
        ("ndb_tls_search_path", "8.3", ""),
        ("ndb_log_update_minimal", "8.0.30", ""),
        ("ndb_log_fail_terminate", "8.0.20", "came with 8.0.21"),
        ("ndb_log_fail_terminate", "8.0.21", ""),
        ("ndb_log_fail_terminate", "8.4.8", ""),
        ("ndb_cache_check_time", "7.4.10", ""),
        ("skip-ndb-cache-check-time", "8.4.8", "is gone: NDB 8.4.8 does not have it"),
        ("ndb_nonsense", "8.4.8", "NDB 8.4.8 has no option ndb-nonsense; mysqld would not start with it"),
        ("ndb_nonsense", "8.0.30", ""),
        ("ndb_transid_mysql_connection_map", "8.4.8", ""),
        ("ndb_report_thresh_binlog_mem", "8.4.8", ""),
    ],
)
def test_options_of_ndb_that_a_release_lacks(name: str, version: str, why: str) -> None:
    """By all that real servers of two releases said of themselves; the beginning of a name will do."""
    found = fault(name, 1, NdbVersion.parse(version))
    assert found == why or (why and why in found)


@pytest.mark.parametrize("release", ["7.4.10", "8.4.8"])
def test_defaults_are_what_servers_have_by_themselves(release: str) -> None:
    version = NdbVersion.parse(release)
    said = {canonical(name): value for name, value in sql_variables(version).items()}
    known = {one.name: one for one in options(version) if one.name.startswith("ndb-")}
    assert known.keys() <= said.keys()
    assert len(known) >= 20
    for name, one in known.items():
        value = said[name]
        if one.type in ("enum", "text"):
            assert not one.values or value in one.values
            continue
        assert one.default == (flag_of(value) if one.type == "bool" else int(value)), name


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ndb_read_backup", {"7.4": None, "7.5": "OFF", "7.6": "OFF", "8.0.18": "OFF", "8.0": "ON"}),
        ("ndb_allow_copying_alter_table", {"7.4": None, "7.6": "ON"}),
        ("ndb_log_update_minimal", {"7.5.6": None, "7.5": "OFF", "7.6.2": None, "8.0": "OFF"}),
        ("ndb_autoincrement_prefetch_sz", {"7.6": "1", "8.0.18": "1", "8.0": "512"}),
        ("ndb_report_thresh_binlog_epoch_slip", {"7.4": "3", "7.5": "10"}),
        ("ndb_index_stat_enable", {"7.1": "OFF", "7.2": "ON"}),
        ("ndb_join_pushdown", {"7.1": None, "7.2": "ON"}),
        ("ndb_row_checksum", {"7.5": None, "7.6": "1"}),
        ("ndb_metadata_sync", {"8.0.18": None, "8.0": "OFF"}),
        ("ndb_mgm_tls", {"8.0": None, "8.4": "relaxed"}),
        ("ndb_wait_setup", {"8.0.26": "30", "8.0": "120"}),
    ],
)
def test_variables_have_what_the_option_has(name: str, values: dict[str, str | None]) -> None:
    assert {text: sql_variables(NdbVersion.parse(text)).get(name) for text in values} == values


def test_an_option_that_later_releases_lack_is_taken_by_earlier_ones() -> None:
    assert not fault("query_cache_size", "64M", NdbVersion(7, 6, 35))
    assert not fault("expire_logs_days", 7, NdbVersion(8, 0, 43))
    told = of_rule(set_parameter(STARTER, "data_node", "query_cache_size", 0), "unknown-parameter")
    assert any("belongs in my.cnf" in one.message for one in told)


@pytest.mark.parametrize(("version", "count"), [("7.4.10", 0), ("7.5", 1), ("7.6.35", 1), ("8.0", 0)])
def test_a_binary_log_without_a_number_of_the_server(version: str, count: int) -> None:
    """Servers of MySQL 5.7 do not start so."""
    assert len(of_rule(with_option("log_bin", "x", version), "mysqld-options")) == count
    node = STARTER.sql_nodes[0].id
    both = update(with_option("log_bin", "x", version), node, options={"log_bin": "x", "server_id": 7})
    assert of_rule(both, "mysqld-options") == []


@pytest.mark.parametrize(
    ("value", "line"),
    [("ON", "log-bin"), (1, "log-bin"), ("", "log-bin"), ("OFF", "skip-log-bin"), (0, "skip-log-bin"),
     ("binlog", "log-bin=binlog")],
)  # fmt: skip
def test_a_switch_is_no_name_of_files(value: int | str, line: str) -> None:
    """log-bin=ON would name the files of the binary log so."""
    plan = with_option("log_bin", value, "8.4")
    assert line in render_my_cnf(plan)["app-a1"].splitlines()
    assert not diff(plan, with_option("log-bin", value, "8.4")).parameters


def test_no_binary_log_needs_no_number_of_the_server() -> None:
    assert of_rule(with_option("log_bin", "OFF", "7.6.35"), "mysqld-options") == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"ndb_log_bin": "ON"}, {"ndb-log-bin": 1}),
        ({"ndb_log_bin": ""}, {"ndb-log-bin": "true"}),
        ({"max_connections": "1K"}, {"max-connections": 1024}),
        ({"binlog_format": "row"}, {"binlog-format": 2}),
        ({"sql_mode": "ANSI"}, {"sql-mode": " ANSI "}),
    ],
)
def test_values_that_mysqld_reads_alike_are_no_change(
    first: dict[str, int | str], second: dict[str, int | str]
) -> None:
    node = STARTER.sql_nodes[0].id
    before, after = update(STARTER, node, options=first), update(STARTER, node, options=second)
    assert not diff(before, after).parameters
    assert needs(before, after).kind == "nothing"
    assert needs(before, STARTER).sql == (147,)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"gtid_mode": "on"}, 1),
        ({"gtid_mode": "ON", "enforce_gtid_consistency": "WARN"}, 1),
        ({"gtid_mode": "ON", "enforce_gtid_consistency": "ON"}, 0),
        ({"gtid_mode": "ON_PERMISSIVE"}, 0),
    ],
)
def test_an_option_that_needs_another(options: dict[str, int | str], count: int) -> None:
    plan = update(STARTER, STARTER.sql_nodes[0].id, options=options)
    found = of_rule(plan, "mysqld-options")
    why = f"gtid-mode={options['gtid_mode']} without enforce-gtid-consistency=ON; mysqld would not start"
    assert [one.message for one in found] == [f"{why} with it"] * count
    assert of_rule(fix_all(plan).plan, "mysqld-options") == []
    if count:
        with pytest.raises(CannotChangeError, match="without enforce-gtid-consistency=ON"):
            needs(STARTER, plan)


@pytest.mark.parametrize(
    ("version", "options", "has", "starts"),
    [
        ("8.4", {}, False, True),
        ("8.4", {"gtid_mode": "ON"}, True, False),
        ("9.x", {}, True, True),
        ("9.x", {"gtid_mode": "ON"}, True, True),
        ("9.x", {"gtid_mode": "OFF"}, False, True),
        ("9.x", {"gtid_mode": "ON", "enforce_gtid_consistency": "OFF"}, True, False),
    ],
)
def test_global_ids_are_on_by_themselves_in_9_x(
    version: str, options: dict[str, int | str], *, has: bool, starts: bool
) -> None:
    """As mysqld 9.7.4 says: a dump without --set-gtid-purged=OFF set its ids where it was read back."""
    plan = set_plan(update(STARTER, STARTER.sql_nodes[0].id, options=options), ndb_version=version)
    assert has_gtids(plan, plan.sql_nodes[0]) is has
    dumps = [one.command for step in dump(plan) for one in step.commands if isinstance(one, Shell)]
    mine = [one for one in dumps if "mysqldump --" in one][:2]
    assert ["--set-gtid-purged=OFF" in one for one in mine] == [has, has]
    assert (of_rule(plan, "mysqld-options") == []) is starts


@pytest.mark.parametrize(
    ("version", "options", "why"),
    [
        ("8.4", {"collation_server": "latin1_bin"}, "without character-set-server=latin1"),
        ("7.6", {"collation_server": "latin1_bin"}, ""),
        ("7.6", {"collation_server": "utf8_bin", "character_set_server": "utf8mb3"}, ""),
        (
            "8.0",
            {"collation_server": "utf8mb4_bin", "character_set_server": "UTF8"},
            "without character-set-server",
        ),
        ("8.0", {"collation_server": "utf8mb4_bin"}, ""),
    ],
)
def test_a_collation_is_one_of_the_character_set(
    version: str, options: dict[str, int | str], why: str
) -> None:
    plan = set_plan(STARTER, ndb_version=version)
    found = of_rule(update(plan, plan.sql_nodes[0].id, options=options), "mysqld-options")
    assert len(found) == bool(why)
    assert all(why in one.message for one in found)
    assert of_rule(fix_all(update(plan, plan.sql_nodes[0].id, options=options)).plan, "mysqld-options") == []


@pytest.mark.parametrize(
    ("version", "options", "count"),
    [
        ("8.4", {"ndb_log_bin": "ON"}, 1),
        ("8.4", {"log_bin": "x"}, 0),
        ("8.4", {"ndb_log_bin": "ON", "skip_log_bin": ""}, 0),
        ("7.4.10", {"log_bin": "x"}, 1),
        ("7.4.10", {"log_bin": "x", "ndb_log_bin": 0}, 0),
        ("7.4.10", {}, 0),
    ],
)
def test_two_servers_with_one_number(version: str, options: dict[str, int | str], count: int) -> None:
    plan = set_plan(STARTER, ndb_version=version)
    for node in plan.sql_nodes:
        plan = update(plan, node.id, options=options)
    told = [
        one.message for one in of_rule(plan, "mysqld-options") if "is that of SQL node 147 too" in one.message
    ]
    assert len(told) == count
    assert of_rule(fix_all(plan).plan, "mysqld-options") == []


def test_names_of_tables_are_read_alike_everywhere() -> None:
    plan = update(STARTER, STARTER.sql_nodes[1].id, options={"lower_case_table_names": 1})
    (told,) = of_rule(plan, "mysqld-options")
    assert "lower-case-table-names is 1, and 0 for SQL node 147" in told.message
    assert of_rule(fix_all(plan).plan, "mysqld-options") == []


@pytest.mark.parametrize(
    ("version", "name", "value", "is_refused"),
    [
        ("7.6", "lower_case_table_names", 1, False),
        ("8.0", "lower_case_table_names", 1, True),
        ("8.0", "lower_case_table_names", 0, False),
        ("7.4.10", "innodb_page_size", 8192, True),
        ("7.4.10", "innodb_page_size", "16K", False),
        ("8.4", "innodb_buffer_pool_size", "2G", False),
    ],
)
def test_what_a_filled_data_directory_fixes(
    version: str, name: str, value: int | str, *, is_refused: bool
) -> None:
    """mysqld would not start again, on one SQL node after the other."""
    before = set_plan(STARTER, ndb_version=version)
    after = update(before, before.sql_nodes[0].id, options={name: value})
    if not is_refused:
        assert needs(before, after).kind in ("sql", "nothing")
        return
    with pytest.raises(CannotChangeError, match="since its data directory was filled, and cannot become"):
        needs(before, after)
    # On another host it is filled anew.
    moved = update(after, after.sql_nodes[0].id, host_id=next(h.id for h in after.hosts if h.id == "mgm-c1"))
    assert needs(before, moved).sql


def test_an_option_goes_to_my_cnf_and_its_change_restarts_its_sql_node() -> None:
    after, _ = assign(STARTER, f"processes[{STARTER.sql_nodes[0].id}].options.ndb_batch_size=65536")
    texts = render_my_cnf(after)
    assert [("ndb-batch-size=65536" in texts[host]) for host in ("app-a1", "app-b1")] == [True, False]
    (change,) = diff(STARTER, after).parameters
    assert (change.name, change.before, change.after) == ("ndb-batch-size", None, "65536")
    assert change.where == "mysqld of SQL node 147"
    found = needs(STARTER, after)
    assert (found.kind, found.sql, found.data, found.configured) == ("sql", (147,), (), False)


def test_what_belongs_to_mysqld_is_sent_there() -> None:
    plan = set_parameter(STARTER, "sql", "ndb-batch-size", 65536)
    messages: list[Any] = [p.message for p in of_rule(plan, "unknown-parameter")]
    assert len(messages) == 1
    assert "is an option of mysqld and belongs in my.cnf" in messages[0]
    assert "ndb_mgmd would refuse" not in messages[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ndb_log_orig", "NDB 7.4.10 and 8.4.8 have it"),
        ("NDB-CACHE-CHECK-TIME", "NDB 7.4.10 has it, 8.4.8 has not"),
        ("ndb_log_purge_rate", "NDB 8.4.8 has it, 7.4.10 has not"),
        ("skip-ndb-nonsense", "neither NDB 7.4.10 nor 8.4.8 has it"),
        ("ndb_transid_mysql_connection_map", ""),
        ("binlog_format", ""),
    ],
)
def test_servers_that_have_an_option_of_ndb_are_named(name: str, said: str) -> None:
    assert who_has(name) == said
