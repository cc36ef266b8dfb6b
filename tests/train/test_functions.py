"""Functions of the mysql console: dates, intervals, bases and digests, as the manual defines them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from ndbplan.base.resources import read_json
from ndbplan.ndb.sql_server import missing_functions, no_calls
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client
from ndbplan.train.sql.weeks import week_of

FACTS = {
    "DATE_ADD('2026-01-31', INTERVAL 1 MONTH)": "2026-02-28",
    "DATE_ADD('2024-02-29', INTERVAL -1 YEAR)": "2023-02-28",
    "'2026-01-01' - INTERVAL 1 SECOND": "2025-12-31 23:59:59",
    "INTERVAL 1 DAY + '2026-12-31'": "2027-01-01",
    "ADDDATE('2026-01-01', 31)": "2026-02-01",
    "SUBDATE('2026-01-01 10:00:00', INTERVAL 2 WEEK)": "2025-12-18 10:00:00",
    "DATEDIFF('2026-03-01', '2026-02-01 23:59:59')": "28",
    "TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-02-28')": "0",
    "TIMESTAMPDIFF(DAY, '2026-01-02', '2026-01-01 00:00:01')": "0",
    "TIMESTAMPDIFF(HOUR, '2026-01-01', '2026-01-02 00:59:59')": "24",
    "DATE_FORMAT('2026-11-03 09:05:07', '%W %D %M %Y %k:%i:%s %p %j %y %e %%')":
        "Tuesday 3rd November 2026 9:05:07 AM 307 26 3 %",
    "UNIX_TIMESTAMP('2026-01-01 00:00:01')": "1767225601",
    "FROM_UNIXTIME(1767225601, '%H:%i:%S')": "00:00:01",
    "TO_DAYS('2026-01-01')": "739982",
    "FROM_DAYS(739982)": "2026-01-01",
    "LAST_DAY('2024-02-01')": "2024-02-29",
    "DAYOFWEEK('2026-11-28')": "7",
    "WEEKDAY('2026-11-28')": "5",
    "MONTHNAME('2026-11-28')": "November",
    "EXTRACT(MINUTE FROM '2026-11-28 10:20:30')": "20",
    "TIMEDIFF('2026-01-02 00:00:00', '2026-01-01 12:30:00')": "11:30:00",
    "HEX(255)": "FF", "HEX('abc')": "616263", "HEX(UNHEX('4142'))": "4142", "HEX(-1)": "FFFFFFFFFFFFFFFF",
    "MD5('a')": "0cc175b9c0f1b6a831c399e269772661",
    "SHA1('a')": "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
    "LEFT(SHA2('a', 256), 8)": "ca978112", "SHA2('a', 7)": "NULL", "CRC32('a')": "3904355907",
    "CONV('ff', 16, 2)": "11111111", "CONV(-1, 10, 16)": "FFFFFFFFFFFFFFFF", "CONV(-1, 10, -16)": "-1",
    "CONV('z', 10, 16)": "0", "BIN(5)": "101", "OCT(9)": "11", "INET_ATON('127.1')": "2130706433",
    "CAST(-1 AS UNSIGNED)": "18446744073709551615", "-9223372036854775808": "-9223372036854775808",
    "18446744073709551615": "18446744073709551615", "CAST('12' AS UNSIGNED) + 1": "13",
    "5.5 % 2": "1.5", "-7 % 3": "-1", "-7 DIV 2": "-3", "7.5 DIV 2": "3", "MOD(7, -3)": "1", "1e1 % 3": "1",
    "CONCAT(_utf8mb4'x')": "x", "_latin1'y' = 'Y'": "1",
    "JSON_ARRAY(TRUE, 1 = 1, NULL > 1, 2 IN (3), 1, NULL)": "[true, true, null, false, 1, null]",
    "JSON_OBJECT('k', TRUE, 'n', JSON_ARRAY(NOT TRUE))": '{"k": true, "n": [false]}',
    "JSON_SET('{}', '$.ä', 2 > 1)": '{"ä": true}', "IF(TRUE, 1 = 1, FALSE)": "1",
    "CONVERT('éш' USING koi8r)": "?ш", "CONVERT('é😀' USING utf8mb3)": "é?",
    "CONVERT('ш€' USING latin1)": "?€",
    # What no day is, is said of texts alone.
    "MONTH(0)": "0", "DAY(0)": "0", "QUARTER(0.0)": "0", "EXTRACT(YEAR_MONTH FROM 0)": "0",
    "MONTH('0000-00-00')": "NULL", "DAYOFMONTH('0')": "NULL",
    "INTERVAL(NULL, 1, 2)": "-1", "INTERVAL(1, NULL, 2)": "1", "INTERVAL(5, 1, NULL, 3)": "3",
    "INTERVAL(3, 5, 1)": "0", "INTERVAL(5, 5, 6)": "1", "1 >> 64": "0", "-1 >> 63": "1", "ROUND(0, -1)": "0",
    "INET_NTOA(16909060)": "1.2.3.4", "PI()": "3.141593", "RAND(1)": "0.40540353712197724",
}  # fmt: skip


def test_functions_answer_as_the_manual_says(cluster: LiveCluster) -> None:
    listed = ", ".join(FACTS)
    answer = Client().answer(f"SELECT {listed}\\G", cluster).splitlines()[1:]
    lines = [line.strip() for line in answer]
    assert [f"{name}: {value}" for name, value in FACTS.items() if f"{name}: {value}" not in lines] == []


_EXPRESSIONS = (Path(__file__).parent / "expressions.txt").read_text("utf-8").splitlines()[1:]


def test_expressions_are_worked_out_as_the_server_does(cluster: LiveCluster) -> None:
    client, wrong = Client(), list[str]()
    for line in _EXPRESSIONS:
        expression, _, value = line.rpartition(" => ")
        answer = client.answer(f"SELECT {expression}", cluster).splitlines()
        got = answer[3][2:-2].strip() if len(answer) > 3 else answer[0]
        if got != value:
            wrong.append(f"{line}, not {got}")
    assert wrong == []


@pytest.mark.parametrize(
    "call",
    ["concat()", "md5('a','b')", "Lpad('a', 1)", "greatest(1)", "concat_ws(',')", "pi(1)", "round()",
     "upper(concat('a'), 'b')", "elt(1)", "json_valid()", "abs(1, (select 2))"],
)  # fmt: skip
def test_native_functions_are_called_with_as_many_arguments_as_they_take(
    call: str, cluster: LiveCluster
) -> None:
    """Source: sql/item_create.cc of the server."""
    name = call.partition("(")[0]
    told = f"Incorrect parameter count in the call to native function '{name}'"
    assert Client().answer(f"SELECT {call}", cluster) == f"ERROR 1582 (42000): {told}\n"


@pytest.mark.parametrize(
    ("call", "near"),
    [
        ("if(1,2)", ")"),
        ("if(1,2,3,4)", ",4)"),
        ("replace('a','b')", ")"),
        ("left('a')", ")"),
        ("ascii()", ")"),
    ],
)
def test_calls_of_the_grammar_are_refused_from_where_they_are_wrong(
    call: str, near: str, cluster: LiveCluster
) -> None:
    said = Client().answer(f"SELECT {call}", cluster)
    assert said.startswith("ERROR 1064 (42000)")
    assert said.endswith(f"near '{near}' at line 1\n")


def test_names_of_functions_are_names_of_columns_and_tables_too(cluster: LiveCluster) -> None:
    client = Client()
    client.answer("CREATE TABLE test.log (id INT PRIMARY KEY, pi INT, uuid INT) ENGINE=NDB", cluster)
    said = client.answer("INSERT INTO test.log (id, pi, uuid) VALUES (1, 2, 3)", cluster)
    assert said.startswith("Query OK")
    assert "|    2 |      3 |" in client.answer("SELECT log.pi, (uuid) FROM test.log", cluster)


def test_what_is_worked_out_of_columns_is_compared_as_they_are(cluster: LiveCluster) -> None:
    client = Client()
    client.answer("CREATE TABLE test.w (id INT PRIMARY KEY, word VARCHAR(9)) ENGINE=NDB", cluster)
    client.answer("INSERT INTO test.w VALUES (1, 'Ab'), (2, 'aB'), (3, 'c')", cluster)
    for condition, count in {
        "CONCAT(word, '') = 'AB'": 2,
        "CONCAT(word, '') IN ('ab', 'C')": 3,
        "UPPER(word) BETWEEN 'a' AND 'ab'": 2,
        "CASE CONCAT(word, '') WHEN 'AB' THEN 1 END": 2,
        "word = BINARY 'Ab'": 1,
        "BINARY word IN ('Ab', 'AB')": 1,
        "word COLLATE utf8mb4_bin = 'aB'": 1,
        "CONCAT(word, '') = word": 3,
    }.items():
        assert f"|        {count} |" in client.answer(
            f"SELECT COUNT(*) FROM test.w WHERE {condition}", cluster
        ), condition


def test_what_is_worked_out_is_sorted_and_grouped_as_columns_are(cluster: LiveCluster) -> None:
    client = Client()
    client.answer("CREATE TABLE test.w (id INT PRIMARY KEY, word VARCHAR(9)) ENGINE=NDB; USE test", cluster)
    client.answer("INSERT INTO w VALUES (1, 'b'), (2, 'B'), (3, 'a'), (4, 'C')", cluster)
    for query, shown in {
        "SELECT id FROM w ORDER BY CONCAT(word, 'x'), id": ["3", "1", "2", "4"],
        "SELECT COUNT(*), CONCAT(word, '') x FROM w GROUP BY x ORDER BY x": ["1", "2", "1"],
        "SELECT COUNT(*), CONCAT(word, '') FROM w GROUP BY 2 ORDER BY 2 DESC": ["1", "2", "1"],
        "SELECT DISTINCT LENGTH(word), CONCAT(word, '') FROM w": ["1", "1", "1"],
        "SELECT COUNT(DISTINCT CONCAT(word, '')) FROM w": ["3"],
        "SELECT MAX(CONCAT(word, '')) FROM w": ["C"],
        "SELECT RANK() OVER (ORDER BY CONCAT(word, '')) FROM w ORDER BY id": ["2", "2", "1", "4"],
        "SELECT COUNT(*) OVER (PARTITION BY CONCAT(word, '')) FROM w ORDER BY id": ["2", "2", "1", "1"],
        "SELECT id * 2 d FROM w ORDER BY d DESC LIMIT 2": ["8", "6"],
    }.items():
        rows = [row for row in client.answer(query, cluster).splitlines() if row.startswith("|")]
        assert [row.split()[1] for row in rows[1:]] == shown, query


def test_weeks_of_all_days_are_those_of_the_calendar() -> None:
    for n in range(date(1999, 1, 1).toordinal(), date(2033, 1, 1).toordinal()):
        day = date.fromordinal(n)
        assert week_of(day, 3) == day.isocalendar()[:2]
        assert (week_of(day, 0)[1], week_of(day, 5)[1]) == (int(f"{day:%U}"), int(f"{day:%W}"))


def test_words_that_say_only_how_are_passed_over(cluster: LiveCluster) -> None:
    client = Client()
    for words in ("HIGH_PRIORITY", "straight_join", "SQL_NO_CACHE DISTINCT", "all"):
        answer = client.answer(f"SELECT {words} COUNT(*) FROM ndbinfo.nodes", cluster)
        assert answer.splitlines()[1:4:2] == ["| COUNT(*) |", "|        4 |"]


def test_what_is_too_large_for_a_double_is_refused(cluster: LiveCluster) -> None:
    said = "ERROR 1690 (22003): DOUBLE value is out of range in '(1e308 * 10)'\n"
    assert Client().answer("SELECT 1e308 * 10", cluster) == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ABS(-9223372036854775808)", "abs(-(9223372036854775808))"),
        ("ABS(CAST(9223372036854775808 AS SIGNED))", "abs(cast(9223372036854775808 as signed))"),
        ("-9223372036854775808 - 1", "(-(9223372036854775808) - 1)"),
    ],
)
def test_what_is_below_the_lowest_whole_number_is_refused(
    cluster: LiveCluster, text: str, shown: str
) -> None:
    said = f"ERROR 1690 (22003): BIGINT value is out of range in '{shown}'\n"
    assert Client().answer(f"SELECT {text}", cluster) == said


def test_a_text_beyond_a_double_is_the_largest_with_a_warning(cluster: LiveCluster) -> None:
    client = Client()
    assert "| -1.7976931348623157e308 |" in client.answer("SELECT '-1e400' + 0", cluster)
    assert "Truncated incorrect DOUBLE value: '-1e400'" in client.answer("SHOW WARNINGS", cluster)


def test_each_division_by_zero_is_null_with_a_warning_of_its_own(cluster: LiveCluster) -> None:
    client = Client()
    answer = client.answer("SELECT 5/0, 5 DIV 0, 5 % 0, MOD(5, 0), NULL / 0", cluster)
    assert answer.splitlines()[3].replace(" ", "") == "|NULL" * 5 + "|"
    assert "1 row in set, 4 warnings (" in answer
    assert client.answer("SHOW WARNINGS", cluster).count("| Warning | 1365 | Division by 0 |") == 4


@pytest.mark.parametrize(
    ("version", "equal"), [("8.4.8", "0"), ("8.0.30", "0"), ("7.4.10", "1"), ("7.2.20", "1")]
)
def test_a_blank_at_the_end_tells_texts_apart_from_8_0_on(
    version: str, equal: str, begun: Callable[[str], LiveCluster]
) -> None:
    """Collations of Unicode 9.0, the default since 8.0, do not pad (manual)."""
    answer = Client().answer("SELECT 'Ä' = 'a ', 'b ' = 'B', 'b' = 'B', 'c' = 'd '", begun(version))
    assert [one.strip() for one in answer.splitlines()[3].strip("|").split("|")] == [equal, equal, "1", "0"]


def test_dual_is_no_table(cluster: LiveCluster) -> None:
    client = Client()
    assert client.answer("SELECT 1 FROM DUAL WHERE 1 = 0", cluster).startswith("Empty set (")
    assert client.answer("SELECT 1 x FROM dual UNION SELECT 2 FROM dual", cluster).count("\n|") == 3
    assert client.answer("SELECT * FROM dual", cluster) == "ERROR 1096 (HY000): No tables used\n"
    assert client.answer("SELECT 1 FROM test.dual", cluster).startswith("ERROR 1146 (42S02)")


@pytest.mark.parametrize(("version", "shown"), [("8.4.8", "0x41"), ("7.4.10", "A")])
def test_bytes_are_shown_as_the_client_of_the_version_does(
    version: str, shown: str, begun: Callable[[str], LiveCluster]
) -> None:
    answer = Client().answer("SELECT UNHEX('41'), NOW(3) > NOW() - INTERVAL 1 SECOND", begun(version))
    assert f"| {shown} " in answer
    assert answer.splitlines()[3].endswith(" 1 |")


def test_what_is_no_date_is_null_with_a_warning(cluster: LiveCluster) -> None:
    client = Client()
    assert "NULL" in client.answer("SELECT YEAR('nix')", cluster)
    assert "| Warning | 1292 | Incorrect datetime value: 'nix' |" in client.answer("SHOW WARNINGS", cluster)
    assert "NULL" in client.answer("SELECT NOW() + INTERVAL '1:2:3' MINUTE_SECOND", cluster)


TRUNCATED = (
    ("SELECT '3abc'+4", "7", "DOUBLE value: '3abc'"), ("SELECT 'abc'=0", "1", "DOUBLE value: 'abc'"),
    ("SELECT 5/'2x'", "2.5", "DOUBLE value: '2x'"), ("SELECT 3 IN ('3z')", "1", "DOUBLE value: '3z'"),
    ("SELECT CAST('12x' AS SIGNED)", "12", "INTEGER value: '12x'"),
    ("SELECT CAST('1.5x' AS DECIMAL(5,2))", "1.50", "DECIMAL value: '1.5x'"),
    ("SELECT COUNT(*) FROM ndbinfo.nodes WHERE node_id='3rd'", "1", "DOUBLE value: '3rd'"),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "value", "told"), TRUNCATED)
def test_what_is_left_of_a_text_that_is_read_as_a_number_is_warned_of(
    sql: str, value: str, told: str, cluster: LiveCluster
) -> None:
    client = Client()
    answer = client.answer(sql, cluster)
    assert answer.splitlines()[3].strip("| ") == value
    assert "1 row in set, 1 warning (" in answer
    assert f"| Warning | 1292 | Truncated incorrect {told} |" in client.answer("SHOW WARNINGS", cluster)


@pytest.mark.parametrize(
    "sql", ["SELECT '12' + 1", "SELECT ' 7 ' = 7", "SELECT NOW() - INTERVAL 1 DAY > NOW()"]
)
def test_a_text_that_is_a_number_is_not_warned_of(sql: str, cluster: LiveCluster) -> None:
    assert "1 row in set (" in Client().answer(sql, cluster)


def test_strict_servers_change_nothing_for_half_a_number(begun: Callable[[str], LiveCluster]) -> None:
    for version, said in (
        ("8.4.8", "ERROR 1292 (22007): Truncated incorrect DOUBLE value: '1x'\n"),
        ("7.4.10", "Query OK, 1 row affected"),
    ):
        assert Client().answer("DELETE FROM test.blobs_1k WHERE id='1x'", begun(version)).startswith(said)


LACKING = (
    ("7.1", "sha2('a', 256)"), ("7.2.1", "to_base64('abc')"), ("7.2.1", "inet6_aton('::1')"),
    ("7.4.10", "any_value(node_id)"), ("7.4.10", "json_overlaps('[1]', '[1]')"),
    ("7.5.4", "json_pretty('[1]')"),
    ("7.6.6", "json_overlaps('[1]', '[1]')"), ("8.0.16", "json_overlaps('[1]', '[1]')"),
    ("8.0.20", "json_value('{}', '$.a')"), ("7.6.6", "old_password('x')"), ("8.4.8", "des_encrypt('x')"),
    ("8.4.8", "encode('a', 'b')"),
)  # fmt: skip
HAVING = (
    ("7.2.1", "sha2('a', 256)"), ("7.4.10", "to_base64('abc')"), ("7.5.10", "json_pretty('[1]')"),
    ("7.6.6", "json_merge_patch('{}', '{}')"), ("8.0.21", "json_value('{\"a\": 1}', '$.a')"),
    ("7.4.10", "des_encrypt('x')"), ("7.4.10", "random_bytes(4)"), ("7.6.6", "password('x')"),
)  # fmt: skip


@pytest.mark.parametrize(("version", "call"), LACKING)
def test_a_function_of_other_releases_does_not_exist(
    version: str, call: str, begun: Callable[[str], LiveCluster]
) -> None:
    name = call.partition("(")[0]
    assert name in missing_functions(NdbVersion.parse(version))
    lacks = Client().answer(f"SELECT {call} FROM test.blobs_5k LIMIT 1", begun(version))
    assert lacks.startswith(f"ERROR 1305 (42000): FUNCTION test.{name} does not exist")


@pytest.mark.parametrize(("version", "call"), HAVING)
def test_a_function_that_the_release_has_is_not_said_to_be_missing(
    version: str, call: str, begun: Callable[[str], LiveCluster]
) -> None:
    assert call.partition("(")[0] not in missing_functions(NdbVersion.parse(version))
    assert not Client().answer(f"SELECT {call}", begun(version)).startswith("ERROR")


def test_no_function_with_a_release_is_unknown_where_the_release_has_it() -> None:
    functions = read_json("ndb/sql_server.json")["functions"]
    stated = {name for row in functions["spans"] for name in row["names"]}
    assert stated <= set(functions["names"]), "else it is said not to exist"
    for name in stated:
        lacks = [
            v
            for v in ("7.0", "7.2", "7.4", "7.6", "8.0", "8.4")
            if name in missing_functions(NdbVersion.parse(v))
        ]
        assert 0 < len(lacks) < 6, name


def test_password_is_no_function_of_the_language_from_8_0_on(cluster: LiveCluster) -> None:
    assert "near '('x')' at line 1" in Client().answer("SELECT PASSWORD('x')", cluster)
    assert no_calls(NdbVersion.parse("7.6")) == frozenset()


def test_nought_is_written_with_its_digits(cluster: LiveCluster) -> None:
    assert "|   0.00000000 |" in Client().answer("SELECT AVG(0/3)*100", cluster)


def test_what_with_names_is_known_from_there_on(cluster: LiveCluster) -> None:
    """Itself only where it is RECURSIVE."""
    client, own = (
        Client(),
        "c AS (SELECT 1 a UNION ALL SELECT a + 1 FROM c WHERE a < 3) SELECT MAX(a) m FROM c",
    )
    client.answer("USE test", cluster)
    assert client.answer(f"WITH {own}", cluster).startswith(
        "ERROR 1146 (42S02): Table 'test.c' doesn't exist"
    )
    assert "|    3 |" in client.answer(f"WITH RECURSIVE {own}", cluster)
    later = "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a"
    assert client.answer(later, cluster).startswith("ERROR 1146 (42S02): Table 'test.b' doesn't exist")
    assert "| 1 |" in client.answer("WITH a AS (SELECT 1 x), b AS (SELECT * FROM a) SELECT * FROM b", cluster)


_SYNTAX = (
    "ERROR 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your "
)
_NEAR = f"{_SYNTAX}MySQL server version for the right syntax to use near "
_NO_CALL = "does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual"
REFUSED = [
    ("SELECT 1,, 2", f"{_NEAR}', 2' at line 1"),
    ("SELECT , 1", f"{_NEAR}', 1' at line 1"),
    ("SELECT CONCAT(,'a')", f"{_NEAR}','a')' at line 1"),
    ("SELECT CONCAT('a',)", f"{_NEAR}')' at line 1"),
    ("SELECT 1 FROM ndbinfo.nodes WHERE 1 IN ()", f"{_NEAR}')' at line 1"),
    ("INSERT INTO test.t VALUES (1,,2)", f"{_NEAR}',2)' at line 1"),
    ("UPDATE test.t SET a = 1, WHERE id = 1", f"{_NEAR}'WHERE id = 1' at line 1"),
    ("CREATE TABLE test.u (id INT PRIMARY KEY,) ENGINE=NDB", f"{_NEAR}') ENGINE=NDB' at line 1"),
    ("SELECT COUNT (*) FROM ndbinfo.nodes", f"{_NEAR}'*) FROM ndbinfo.nodes' at line 1"),
    ("SELECT MAX (node_id) FROM nodes", f"ERROR 1630 (42000): FUNCTION ndbinfo.MAX {_NO_CALL}"),
    ("SELECT *", "ERROR 1096 (HY000): No tables used"),
    ("SELECT 1e400", "ERROR 1367 (22007): Illegal double '1e400' value found during parsing"),
    ("SELECT POW(10, 400)", "ERROR 1690 (22003): DOUBLE value is out of range in 'pow(10,400)'"),
    ("SELECT * FROM (SELECT 1 a, 2 A) x", "ERROR 1060 (42S21): Duplicate column name 'A'"),
    (
        "SELECT 1 UNION SELECT 1, 2",
        "ERROR 1222 (21000): The used SELECT statements have a different number of columns",
    ),
    (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT SUM(n) FROM r",
        "ERROR 3636 (HY000): Recursive query aborted after 1001 iterations. "
        "Try increasing @@cte_max_recursion_depth to a larger value.",
    ),
    (
        "SELECT DISTINCT node_id FROM nodes ORDER BY uptime",
        "ERROR 3065 (HY000): Expression #1 of ORDER BY clause is not in SELECT list, references column "
        "'ndbinfo.nodes.uptime' which is not in SELECT list; this is incompatible with DISTINCT",
    ),
    ("SELECT 1234567890123456789.123", "ndbplan: decimals of more than 15 digits are not simulated"),
    ("SELECT " + "9" * 30 + "." + "1" * 40, "ndbplan: decimals of more than 15 digits are not simulated"),
    ("XA END 'x'", "ERROR 1399 (XAE07): XAER_RMFAIL: The command cannot be executed when global transaction "
                   "is in the  NON-EXISTING state"),
    ("XA COMMIT 'x' ONE PHASE", "ERROR 1397 (XAE04): XAER_NOTA: Unknown XID"),
    ("XA RECOVER", "ndbplan: transactions of XA are not simulated here; START TRANSACTION is"),
    ("XA TWICE 'x'", f"{_NEAR}'TWICE 'x'' at line 1"),
    ("SET sql_mode = 4", "ndbplan: SET sql_mode takes names of modes here"),
    ("SHOW INDEX FROM nodes WHERE Key_name LIKE 'a'", "Empty set (0.00 sec)\n"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "said"), REFUSED)
def test_what_the_server_does_not_read_is_refused_as_it_does(
    sql: str, said: str, cluster: LiveCluster
) -> None:
    client = Client()
    client.answer("USE ndbinfo", cluster)
    assert client.answer(sql, cluster) == f"{said}\n"


def test_lists_in_texts_and_blanks_before_other_calls_are_read(cluster: LiveCluster) -> None:
    client = Client()
    answer = client.answer("SELECT 'a,,b', '(,', 'it\\'s ,,', IFNULL (1, 2), COUNT( * )", cluster)
    assert answer.splitlines()[3].replace(" ", "") == "|a,,b|(,|it's,,|1|1|"


def test_sums_of_what_with_names_are_numbers(cluster: LiveCluster) -> None:
    said = Client().answer(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r WHERE n<5) SELECT SUM(n) FROM r",
        cluster,
    )
    assert "|     15 |" in said


def test_keys_are_shown_by_a_condition_and_analyze_says_what_it_does_not_count(cluster: LiveCluster) -> None:
    client = Client()
    columns = "id INT PRIMARY KEY, a INT, s VARCHAR(9), KEY (a), UNIQUE KEY us (s)"
    client.answer(f"CREATE TABLE test.t ({columns}) ENGINE=NDB", cluster)
    assert " a   " not in client.answer("SHOW KEYS FROM t IN test WHERE Key_name = 'us'", cluster)
    assert "2 rows in set" in client.answer("SHOW INDEX FROM test.t WHERE non_unique = 0", cluster)
    assert client.answer("SHOW INDEX FROM test.t WHERE x = 1", cluster).startswith("ERROR 1054 (42S22)")
    assert client.answer("SHOW INDEX test.t", cluster).startswith("ERROR 1064 (42000)")
    note = "ndbplan: how many values an ordered index has is not simulated: its Cardinality stays NULL\n"
    assert note in client.answer("ANALYZE TABLE test.t", cluster)


WARNED = [
    ("SELECT CAST(300 AS DECIMAL(2))", "99",
     (1264, "Out of range value for column 'CAST(300 AS DECIMAL(2))' at row 1")),
    ("SELECT CAST(-300.5 AS DECIMAL(4,2)) AS x", "-99.99",
     (1264, "Out of range value for column 'x' at row 1")),
    ("SELECT CONCAT(CAST(2.345 AS DECIMAL(5,2)), '%')", "2.35%", None),
    ("SELECT CAST('99999999999999999999' AS UNSIGNED)", "18446744073709551615",
     (1292, "Truncated incorrect INTEGER value: '99999999999999999999'")),
    ("SELECT CAST('12:61:00' AS TIME)", "NULL", (1292, "Truncated incorrect time value: '12:61:00'")),
    ("SELECT LN(-1)", "NULL", (3020, "Invalid argument for logarithm")),
    ("SELECT LOG(2, 8)", "3", None),
    ("SELECT CHAR(65, 66)", "0x4142", None),
    ("SELECT 1 && 0", "0",
     (1287, "'&&' is deprecated and will be removed in a future release. Please use AND instead")),
    ("SELECT '!' = '&&'", "0", None),
    ("SELECT 1 != 1", "0", None),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "value", "warning"), WARNED)
def test_what_a_value_cannot_hold_is_cut_and_warned_of(
    cluster: LiveCluster, asked: str, value: str, warning: tuple[int, str] | None
) -> None:
    client = Client()
    said = client.answer(asked, cluster)
    assert said.splitlines()[3].strip("| ") == value
    assert ("1 warning" in said) is (warning is not None)
    told = client.answer("SHOW WARNINGS", cluster)
    assert told.startswith("Empty set") if warning is None else f"| {warning[0]} | {warning[1]} " in told


def test_older_words_are_warned_of_by_servers_that_have_newer_ones(
    begun: Callable[[str], LiveCluster],
) -> None:
    insert = "INSERT INTO test.{} VALUES (1) ON DUPLICATE KEY UPDATE id = VALUES(id)"
    for version, operator, call in (
        ("7.4.10", False, False),
        ("8.0.18", True, False),
        ("8.0.20", True, True),
    ):
        cluster, client = begun(version), Client()
        client.answer("CREATE TABLE test.w (id INT PRIMARY KEY) ENGINE=NDB", cluster)
        assert ("1 warning" in client.answer("SELECT 1 || 0", cluster)) is operator, version
        assert ("1 warning" in client.answer(insert.format("w"), cluster)) is call, version
        assert "3020" not in client.answer("SELECT LOG(0)", cluster)
        assert client.answer("SHOW WARNINGS", cluster).startswith("Empty set") is not operator, version


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("TIME('2024-02-29')", "1292 | Truncated incorrect time value: '2024-02-29'"),
        ("TIME('bad')", "1292 | Truncated incorrect time value: 'bad'"),
        ("TIME(1234567)", "1292 | Truncated incorrect time value: '1234567'"),
        ("DATE('2024-02-30')", "1292 | Incorrect datetime value: '2024-02-30'"),
        ("DATE('2024-02-29x')", "1292 | Truncated incorrect date value: '2024-02-29x'"),
        ("DATE_ADD('9999-12-31', INTERVAL 1 DAY)", "1441 | Datetime function: datetime field overflow"),
        ("STR_TO_DATE('abc', '%Y')", "1411 | Incorrect datetime value: 'abc' for function str_to_date"),
        ("STR_TO_DATE('2024-01-01 x', '%Y-%m-%d')", "1292 | Truncated incorrect date value: '2024-01-01 x'"),
        ("SHA2('a', 5)", "1583 | Incorrect parameters in the call to native function 'sha2'"),
        ("SEC_TO_TIME(3024000)", "1292 | Truncated incorrect time value: '3024000'"),
        ("LEFT('abc', '2x')", "1292 | Truncated incorrect INTEGER value: '2x'"),
        ("ACOS('abc')", "1292 | Truncated incorrect DOUBLE value: 'abc'"),
        ("'2024-01-31' + 1", "1292 | Truncated incorrect DOUBLE value: '2024-01-31'"),
    ],
)
def test_what_is_read_in_part_alone_is_warned_of(expression: str, told: str, cluster: LiveCluster) -> None:
    client = Client()
    client.answer(f"SELECT {expression}", cluster)
    assert told in client.answer("SHOW WARNINGS", cluster)
