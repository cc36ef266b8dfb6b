"""Single answers that MySQL 8.0.15 and 9.7.4 gave alike: what servers of the years between answer, too."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

VALUES = (
    # Two letters are none that LIKE takes for one.
    ("'ß' LIKE 'ss'", "0"), ("'ß' LIKE '_'", "1"), ("'ß' = 'ss'", "1"), ("'é' LIKE 'e'", "1"),
    ("'Æ' LIKE 'AE'", "0"), ("'Æ' = 'AE'", "1"), ("'ø' = 'O'", "1"), ("'đ' = 'd'", "1"), ("'œ' = 'oe'", "1"),
    ("CHAR(65 USING utf8mb4)", "A"), ("CHAR(65,66 USING latin1)", "AB"),
    ("CHAR(0xC3A9 USING utf8mb4)", "é"), ("CHAR(255 USING utf8mb4)", "NULL"),
    ("REGEXP_REPLACE('abc','(?<n>b)','${n}${n}')", "abbc"),
    ("TO_DAYS('0000-01-01')", "1"), ("TO_DAYS('0000-03-01')", "60"), ("TO_SECONDS('0000-01-01')", "86400"),
    ("DAYOFWEEK('0000-01-01')", "1"), ("WEEKDAY('0000-01-01')", "6"), ("DAYOFYEAR('0000-02-01')", "32"),
    ("DATEDIFF('0000-01-02','0000-01-01')", "1"), ("LAST_DAY('0000-02-01')", "0000-02-28"),
    ("LAST_DAY('2024-02-00')", "2024-02-29"), ("YEAR('0000-00-00')", "NULL"), ("DAY('0000-00-00')", "NULL"),
    ("MONTH('2024-00-00')", "0"), ("DAYOFMONTH('2024-01-00')", "0"), ("LAST_DAY('2024-00-10')", "NULL"),
    ("UNHEX('G')", "NULL"), ("INET_ATON('x')", "NULL"), ("SUBSTRING('abc' FROM 2 FOR 1)", "b"),
    ("MID('abc' FROM 2)", "bc"), ("ANY_VALUE(1)", "1"),
)  # fmt: skip
WARNED = (
    ("'a' AND 1", [1292]), ("'a' OR 1", [1292]), ("NOT 'a'", [1292]), ("IF('a',1,2)", [1292]),
    ("CASE WHEN 'x' THEN 1 END", [1292]), ("1 AND 0", []), ("UNHEX('G')", [1411]), ("INET_ATON('x')", [1411]),
    ("INET6_ATON('x')", [1411]), ("CHAR(255 USING utf8mb4)", [1300]), ("JSON_MERGE('[1]','2')", [1287]),
)  # fmt: skip
REFUSED = (
    ("SELECT MID('abc')", 1064), ("SELECT SUBSTR('abc')", 1064), ("SELECT SUBSTRING('abc')", 1064),
    ("SELECT JSON_EXTRACT('{\"a\":1}','a')", 3143), ("SELECT '{\"a\":1}'->'$.a'", 1064),
    ("SELECT REGEXP_REPLACE('abc','b','${name}')", 3887), ("SELECT * FROM (SELECT 1, 1) x", 1060),
    ("SELECT;", 1064), ("SELECT 1 LIMIT 'a'", 1064), ("VALUES (1)", 1064),
    ("SELECT RANK() OVER (ORDER BY 1)", 3592), ("SELECT ROW(1,2)=ROW(1)", 1064),
)  # fmt: skip
HEADED = (
    ("SELECT * FROM (SELECT 1) x", ["1"], [1]),
    ("SELECT * FROM (SELECT 1+1, COUNT(*)) x", ["1+1", "COUNT(*)"], [3, 8]),
    ("SELECT * FROM (SELECT NULL c) x", ["c"], [10]), ("SELECT 1 WHERE 1", ["1"], [1]),
    ("SELECT 1 GROUP BY 1", ["1"], [1]), ("SELECT _utf8mb4'abc'", ["abc"], [3]),
    ("SELECT 'hello' 'monty'", ["hello"], [10]), ("SELECT @nosuch", ["@nosuch"], [16]),
    ("SELECT UNHEX('G')", ["UNHEX('G')"], [22]),
)  # fmt: skip
"""What stands above each column, and how wide the client makes it."""


@pytest.fixture(scope="module")
def consoles(begun: Callable[[str], LiveCluster]) -> Consoles:
    return Consoles(begun("8.4.8"))


def cells(answer: str) -> list[str]:
    """Of the first row."""
    rows = [line for line in answer.splitlines() if line.startswith("|")]
    return [one.strip() for one in rows[1].strip("|").split("|")]


@pytest.mark.parametrize(("asked", "value"), VALUES)
def test_a_value_is_that_of_both(consoles: Consoles, asked: str, value: str) -> None:
    assert cells(consoles.answer(f"mysql> SELECT {asked} AS x")) == [value]


@pytest.mark.parametrize(("asked", "codes"), WARNED)
def test_what_is_warned_of(consoles: Consoles, asked: str, codes: list[int]) -> None:
    consoles.answer(f"mysql> SELECT {asked}")
    told = consoles.answer("mysql> SHOW WARNINGS")
    assert [int(code) for code in re.findall(r"^\| Warning \| +([0-9]+) ", told, re.MULTILINE)] == codes


@pytest.mark.parametrize(("statement", "code"), REFUSED)
def test_what_is_refused(consoles: Consoles, statement: str, code: int) -> None:
    assert consoles.answer(f"mysql> {statement}").startswith(f"ERROR {code} ")


@pytest.mark.parametrize(("statement", "names", "widths"), HEADED)
def test_headings_and_their_widths(
    consoles: Consoles, statement: str, names: list[str], widths: list[int]
) -> None:
    line, heads = consoles.answer(f"mysql> {statement}").splitlines()[:2]
    assert [one.strip() for one in heads.strip("|").split("|")] == names
    assert [len(one) - 2 for one in line.strip("+").split("+")] == widths


def test_do_tells_of_warnings(consoles: Consoles) -> None:
    assert consoles.answer("mysql> DO 1/0").startswith("Query OK, 0 rows affected, 1 warning (")


def say(consoles: Consoles, *statements: str) -> str:
    """The answer of the last."""
    *_, last = [consoles.answer(f"mysql> {one}") for one in statements]
    return last


def test_a_column_is_called_as_it_was_typed(consoles: Consoles) -> None:
    say(
        consoles,
        "CREATE TABLE test.Cased (PORT INT PRIMARY KEY) ENGINE=NDB",
        "INSERT INTO test.Cased VALUES (1)",
    )
    assert "| port |" in say(consoles, "SELECT port FROM test.Cased")
    assert "| PORT |" in say(consoles, "SELECT * FROM test.Cased")


def test_words_behind_update_and_delete(consoles: Consoles) -> None:
    """mysql-test/suite/ndb/r/ndb_update.result: UPDATE IGNORE leaves a row as it was, and warns."""
    made = "CREATE TABLE test.ig (pk1 INT PRIMARY KEY, b INT) ENGINE=NDB"
    say(consoles, made, "INSERT INTO test.ig VALUES (2,2),(4,4)")
    told = say(consoles, "UPDATE IGNORE test.ig SET pk1 = 4 WHERE pk1 = 2")
    assert "Rows matched: 1  Changed: 0  Warnings: 1" in told
    assert "| Warning | 1062 | Duplicate entry '4' for key 'ig.PRIMARY' |" in say(consoles, "SHOW WARNINGS")
    assert "1 row affected" in say(consoles, "UPDATE LOW_PRIORITY IGNORE test.ig SET pk1 = 5 WHERE pk1 = 2")
    assert "2 rows affected" in say(consoles, "DELETE QUICK FROM test.ig")
    assert say(consoles, "UPDATE QUICK test.ig SET b = 1").startswith("ERROR 1064 ")


def test_a_row_that_an_update_leaves_is_in_the_way_of_others(consoles: Consoles) -> None:
    made = "CREATE TABLE test.un (a INT, b INT, UNIQUE KEY (a, b)) ENGINE=NDB"
    say(consoles, made, "INSERT INTO test.un VALUES (1,2),(3,2)")
    assert say(consoles, "UPDATE test.un SET a = 1").startswith(("ERROR 1022 ", "ERROR 1062 "))
    assert "|    3 |    2 |" in say(consoles, "SELECT * FROM test.un")


def test_switches_of_ndb_are_true_and_false(consoles: Consoles) -> None:
    """mysql-test/suite/ndb/r/ndb_alter_table_dml.result."""
    assert say(consoles, "SET ndb_join_pushdown = false").startswith("Query OK")
    assert say(consoles, "SELECT @@ndb_join_pushdown").splitlines()[3] == "|                   0 |"


def test_whether_there_is_a_day_naught_is_said_by_the_mode(consoles: Consoles) -> None:
    asked = "SELECT YEAR('0000-00-00'), DAYOFMONTH('0000-00-00')"
    assert cells(say(consoles, asked)) == ["NULL", "NULL"]
    assert cells(say(consoles, "SET sql_mode = ''", asked)) == ["0", "0"]
    say(consoles, "SET sql_mode = DEFAULT")


OF_NDB = (
    ("CREATE TABLE test.au (id INT AUTO_INCREMENT, KEY(id)) ENGINE=NDB", 1005, 4335),
    ("CREATE TABLE test.bi (pk1 BIT(9) NOT NULL PRIMARY KEY, b INT) ENGINE=NDB", 1005, 906),
    ("CREATE TABLE test.bi (pk1 INT PRIMARY KEY, b BIT(9), KEY(b)) ENGINE=NDB", 1005, 906),
)
"""mysql-test/suite/ndb/r: ndb_autoinc.result, ndb_bitfield.result."""


@pytest.mark.parametrize(("statement", "code", "inside"), OF_NDB)
def test_keys_that_ndb_has_not(consoles: Consoles, statement: str, code: int, inside: int) -> None:
    assert say(consoles, statement).startswith(f"ERROR {code} (HY000): Can't create table '")
    assert f"| Warning | 1296 | Got error {inside} '" in say(consoles, "SHOW WARNINGS")


def test_an_index_by_hash_alone_is_none_of_ndb(consoles: Consoles) -> None:
    """mysql-test/suite/ndb/r/ndb_index_ordered.result."""
    say(consoles, "CREATE TABLE test.ha (a INT PRIMARY KEY, b INT, c INT) ENGINE=NDB")
    told = say(consoles, "CREATE INDEX i ON test.ha (b, c) USING HASH")
    assert told.startswith("ERROR 1112 (42000): Table 'ha' uses an extension that doesn't exist")
    assert say(consoles, "CREATE INDEX i ON test.ha (b) USING BTREE").startswith("Query OK")


def test_letters_that_a_character_set_has_not(consoles: Consoles) -> None:
    columns = "a VARCHAR(10) CHARACTER SET ascii, b VARCHAR(10) CHARACTER SET latin1"
    made = f"CREATE TABLE test.le ({columns}) ENGINE=NDB"
    told = "ERROR 1366 (HY000): Incorrect string value: '{}' for column '{}' at row 1"
    say(consoles, made)
    for statement, shown, column in (
        ("INSERT INTO test.le (a) VALUES ('é')", "\\xC3\\xA9", "a"),
        ("INSERT INTO test.le (b) VALUES ('a日bé')", "\\xE6\\x97\\xA5b\\xC3\\xA9", "b"),
    ):
        assert say(consoles, statement).strip() == told.format(shown, column)
    assert "2 warnings" in say(consoles, "INSERT IGNORE INTO test.le VALUES ('xé','日')")
    assert cells(say(consoles, "SELECT * FROM test.le")) == ["x?", "?"]
    say(consoles, "DELETE FROM test.le", "INSERT INTO test.le (b) VALUES ('é')")
    altered = say(consoles, "ALTER TABLE test.le MODIFY b VARCHAR(10) CHARACTER SET ascii")
    assert altered.strip() == told.format("\\xE9", "b")
    assert cells(say(consoles, "SELECT b FROM test.le")) == ["é"]


def test_patterns_know_the_collation_of_their_column(consoles: Consoles) -> None:
    made = "CREATE TABLE test.re (a VARCHAR(10) COLLATE utf8mb4_bin, b VARCHAR(10)) ENGINE=NDB"
    say(consoles, made, "INSERT INTO test.re VALUES ('abc','abc')")
    asked = "a REGEXP 'B', b REGEXP 'B', REGEXP_LIKE(a,'B','i'), REGEXP_REPLACE(a,'B','x')"
    assert cells(say(consoles, f"SELECT {asked} FROM test.re")) == ["0", "1", "1", "abc"]


def test_a_check_by_a_pattern_is_no_wrong_syntax(consoles: Consoles) -> None:
    say(consoles, "CREATE TABLE test.ch (a VARCHAR(10)) ENGINE=NDB")
    for pattern in ("REGEXP '^a'", "LIKE 'a%'"):
        assert not say(consoles, f"ALTER TABLE test.ch ADD CHECK (a {pattern})").startswith("ERROR 1064")


def test_who_makes_a_text_too_long_is_named(consoles: Consoles) -> None:
    for call in ("SPACE(100000000)", "REPEAT('a',100000000)"):
        say(consoles, f"SELECT LENGTH({call})")
        name = call.partition("(")[0].lower()
        assert f"Result of {name}() was larger than" in say(consoles, "SHOW WARNINGS")


def test_a_savepoint_before_any_change_is_gone_back_to(consoles: Consoles) -> None:
    made = "CREATE TABLE test.sv (a INT PRIMARY KEY) ENGINE=NDB"
    say(consoles, made, "START TRANSACTION", "SAVEPOINT s1", "INSERT INTO test.sv VALUES (6)")
    assert say(consoles, "ROLLBACK TO SAVEPOINT S1").startswith("Query OK")
    assert say(consoles, "SELECT * FROM test.sv").startswith("Empty set")
    assert say(consoles, "ROLLBACK TO nosuch").startswith(
        "ERROR 1305 (42000): SAVEPOINT nosuch does not exist"
    )
    assert say(consoles, "RELEASE SAVEPOINT s1").startswith("Query OK")
    assert say(consoles, "RELEASE SAVEPOINT s1").startswith("ERROR 1305 ")
    say(consoles, "INSERT INTO test.sv VALUES (7)", "COMMIT", "SAVEPOINT s2")
    assert say(consoles, "ROLLBACK TO s2").startswith("ERROR 1305 ")
    assert cells(say(consoles, "SELECT * FROM test.sv")) == ["7"]


MAY_BE_NULL = (
    "WEEK('2020-01-01')", "MONTH('2020-01-01')", "EXTRACT(DAY FROM '2020-01-01')", "WEEKDAY('2020-01-01')",
    "CONCAT('a','b')", "UPPER('a')", "LEFT('a',1)", "REPLACE('a','b','c')", "TRIM('a')", "HEX(1)", "BIN(1)",
    "POW(1,1)", "MOD(1,2)", "JSON_VALID('1')", "TO_DAYS('2020-01-01') = 1",
)  # fmt: skip
NEVER_NULL = (
    "LENGTH('a')",
    "ABS(1)",
    "SIGN(1)",
    "STRCMP('a','a')",
    "'a' LIKE 'a'",
    "LOCATE('a','a')",
    "1 IN (1)",
)


@pytest.mark.parametrize(("asked", "width"), [*((x, 4) for x in MAY_BE_NULL), *((x, 1) for x in NEVER_NULL)])
def test_room_for_null_where_a_function_may_give_it(consoles: Consoles, asked: str, width: int) -> None:
    line = say(consoles, f"SELECT {asked} AS x").splitlines()[0]
    assert len(line.strip("+")) - 2 == width


def test_more_digits_than_a_decimal_of_python_has(consoles: Consoles) -> None:
    """mysql-test/t/func_math.test: FORMAT of DECIMAL(60,30)."""
    say(consoles, "CREATE TABLE test.de (a INT PRIMARY KEY, b DECIMAL(60,30)) ENGINE=NDB")
    assert say(consoles, "INSERT INTO test.de VALUES (1,1234567890.12345)").startswith("Query OK, 1 row")
