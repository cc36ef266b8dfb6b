"""Values of option files: what is written is read back, and lines as people write them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ndbplan.edits.parts import update
from ndbplan.exporting.my_cnf import render_my_cnf
from ndbplan.importing.my_cnf import with_options
from ndbplan.ndb.option_file import value_in_file, value_of_line
from ndbplan.plan.samples import sample_plan


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=40))
@example("'")
@example("#")
@example('"\\')
@example(" # ' ")
def test_a_value_is_read_back_as_it_was(text: str) -> None:
    written = value_in_file(text)
    assert value_of_line(written) == text
    if not set(text) & set("'\""):
        assert value_of_line(f"  {written}  # and why") == text, "an open quote would take the comment in"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("64K # half of it", "64K"),
        ("'a' or 'b'", "a' or 'b"),
        ('SET @x="a # b"', 'SET @x="a # b"'),
        ("'it''s'", "it''s"),
        (r"C:\\data\sold\x", "C:\\data old\\x"),
        ("it's # all of it", "it's # all of it"),
        ('""', ""),
        ("\\", "\\"),
    ],
)
def test_lines_are_read_as_the_programs_do(line: str, value: str) -> None:
    assert value_of_line(line) == value


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("init-connect", "SET @a=1 # b", 'init-connect="SET @a=1 # b"'),
        ("init-connect", "SET @a='x'", "init-connect=SET @a='x'"),
        ("tmpdir", "C:\\new", "tmpdir=C:\\\\new"),
        ("sql-mode", "", "sql-mode="),
        ("skip-name-resolve", "", "skip-name-resolve"),
    ],
)
def test_options_of_a_plan_come_back_from_its_files(name: str, value: str, line: str) -> None:
    plan = sample_plan("starter")
    first = plan.sql_nodes[0]
    stated = update(plan, first.id, options={name: value})
    host = plan.host(first.host_id).hostname
    text = render_my_cnf(stated)[host]
    assert line in text.splitlines()
    assert with_options(plan, text, f"{host}.my.cnf").plan.by_id[first.id].options == {name: value}
