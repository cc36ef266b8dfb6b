"""Functions of JSON at the mysql client (manual 8.4, JSON Functions, whose examples these are)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster


def value(say: Callable[[str], str], expression: str) -> str:
    rows = [row for row in say(f"mysql> select {expression} as v").splitlines() if row.startswith("|")]
    return rows[1].strip("| ") if len(rows) > 1 else ""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("""json_length('[1, 2, {"a": 3}]')""", "3"),
        ("""json_length('{"a": 1, "b": {"c": 30}}', '$.b')""", "1"),
        ("json_length('5')", "1"),
        ("json_length('[1]', '$.x')", "NULL"),
        ("json_depth('[10, {\"a\": 20}]')", "3"),
        ("json_type('[1]')", "ARRAY"),
        ("json_type('true')", "BOOLEAN"),
        ("json_type('18446744073709551615')", "UNSIGNED INTEGER"),
        ("json_valid('{\"a\": 1}')", "1"),
        ("json_valid('hello')", "0"),
        ("""json_keys('{"a": 1, "b": {"c": 30}}', '$.b')""", '["c"]'),
        ("json_keys('[1]')", "NULL"),
        ("""json_contains('{"a": 1, "b": 2, "c": {"d": 4}}', '{"d": 4}', '$.c')""", "1"),
        ("""json_contains('{"a": 1}', '1')""", "0"),
        ("json_contains('[1, true]', 'true')", "1"),
        ("json_contains('[1]', 'true')", "0"),
        ("""json_contains_path('{"a": 1, "c": {"d": 4}}', 'one', '$.a', '$.e')""", "1"),
        ("""json_contains_path('{"a": 1, "c": {"d": 4}}', 'all', '$.a', '$.e')""", "0"),
        ("""json_set('{ "a": 1, "b": [2, 3]}', '$.a', 10, '$.c', '[true, false]')""",
         '{"a": 10, "b": [2, 3], "c": "[true, false]"}'),
        ("json_set('{}', '$.a', json_array(1, 2))", '{"a": [1, 2]}'),
        ("json_set('{}', '$.a', null)", '{"a": null}'),
        ("json_set('[3]', '$[5]', 4)", "[3, 4]"),
        ("""json_insert('{ "a": 1}', '$.a', 10, '$.c', 5)""", '{"a": 1, "c": 5}'),
        ("""json_replace('{ "a": 1}', '$.a', 10, '$.c', 5)""", '{"a": 10}'),
        ("""json_remove('["a", ["b", "c"], "d"]', '$[1]')""", '["a", "d"]'),
        ("""json_remove('[1, 2, 3]', '$[last]')""", "[1, 2]"),
        ("""json_array_append('["a", ["b", "c"], "d"]', '$[1]', 1)""", '["a", ["b", "c", 1], "d"]'),
        ("""json_array_append('["a"]', '$[0]', 2)""", '[["a", 2]]'),
        ("""json_array_insert('["a", {"b": [1, 2]}]', '$[1].b[0]', 'x')""", '["a", {"b": ["x", 1, 2]}]'),
        ("""json_search('["abc", [{"k": "10"}], {"x":"abc"}]', 'one', 'abc')""", '"$[0]"'),
        ("""json_search('["abc", [{"k": "10"}], {"x":"abc"}]', 'all', 'abc')""", '["$[0]", "$[2].x"]'),
        ("""json_search('["abc"]', 'all', 'zz%')""", "NULL"),
        ("""json_merge_patch('{ "a": 1, "b":2 }', '{ "a": 3, "b": null }')""", '{"a": 3}'),
        ("""json_merge_preserve('{"a": 1, "b": 2}', '{"a": 3}')""", '{"a": [1, 3], "b": 2}'),
        ("json_merge_preserve('[1, 2]', 'true')", "[1, 2, true]"),
        ("""json_quote('a"b')""", r'"a\"b"'),
        ("""json_unquote('"abc"')""", "abc"),
        ("""json_value('{"fname": "Joe", "lname": "Palmer"}', '$.fname')""", "Joe"),
        ("json_overlaps('[1,3,5,7]', '[2,5,7]')", "1"),
        ("json_overlaps('[1,3]', '[2]')", "0"),
        ("json_length(null)", "NULL"),
        ("json_object('k', 1 > 2)", '{"k": false}'),
        ("json_object('a', 1 in (1, 2), 'b', 'x' like 'x%', 'c', (1 > 2))",
         '{"a": true, "b": true, "c": false}'),
        ("json_array(1.50, cast(2 as decimal(5,2)), round(2.567, 2), 2.0, 1e2)",
         "[1.50, 2.00, 2.57, 2.0, 100.0]"),
        ("""json_set('{"a": 1.50}', '$.b', 2.50, '$.c', json_array(1.10))""",
         '{"a": 1.5, "b": 2.50, "c": [1.10]}'),
        ("json_extract('[1.50]', '$[0]')", "1.5"),
    ],
)  # fmt: skip
def test_functions_answer_as_the_manual_says(expression: str, expected: str, cluster: LiveCluster) -> None:
    assert value(Consoles(cluster).answer, expression) == expected


def test_a_column_is_changed_by_them_and_counts_stand_to_the_right(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    say("mysql> create table test.js (id int primary key, j json) engine=ndb")
    say("""mysql> insert into test.js values (1, '{"k": [1, 2]}')""")
    assert say("mysql> update test.js set j = json_set(j, '$.z', 9) where id = 1").startswith(
        "Query OK, 1 row"
    )
    assert '{"k": [1, 2], "z": 9}' in say("mysql> select j from test.js")
    assert "|              2 |" in say("mysql> select json_length(j) from test.js")


def test_servers_before_5_7_have_none_of_them(begun: Callable[[str], LiveCluster]) -> None:
    said = Consoles(begun("7.4.10")).answer("mysql> select json_length('[1]')")
    assert said.startswith("ERROR 1305 (42000)")


def test_tables_made_of_json_are_not_simulated(cluster: LiveCluster) -> None:
    """A server reads a table out of it: none of that name is looked for."""
    said = Consoles(cluster).answer(
        "mysql> select * from json_table('[1,2]', '$[*]' columns(a int path '$')) as t"
    )
    assert said == "ndbplan: JSON_TABLE() is not simulated here\n"


def test_what_gathers_values_of_json_keeps_them(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    listed = say(
        "mysql> select json_arrayagg(json_object('n', node_id)) v from ndbinfo.nodes where node_id in (3, 4)"
    )
    assert '[{"n": 3}, {"n": 4}]' in listed
    named = say("mysql> select json_objectagg(node_id, 1.50) v from ndbinfo.nodes where node_id in (3, 4)")
    assert '{"3": 1.50, "4": 1.50}' in named


def test_a_member_without_a_value_is_an_error(cluster: LiveCluster) -> None:
    say = Consoles(cluster).answer
    for call in ("json_object('a')", "json_object('a', 1, 'b')"):
        assert say(f"mysql> select {call}").startswith("ERROR 1582 (42000)")
    assert "near ': 1)'" in say("mysql> select json_object('k': 1)")
