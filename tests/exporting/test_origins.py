"""config.ini says above a value who set it, and nothing that it tells breaks out of its comment."""

from __future__ import annotations

import random

import pytest

from ndbplan.edits.parameters import put_origin, set_parameter
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.plan.origins import SetByImport, SetByProgram, file_name
from ndbplan.plan.samples import sample_plan

HOSTILE = (
    "x # [ndbd]", "[ndb_mgmd]", "DataMemory=1", "a" * 255, "ü€\u3000漢字", "\u2028DataMemory=1", "\r\n[tcp]",
    "{{ 7*7 }}{% raw %}", "\\", "a\x85DataMemory=1", "a " * 120,
)  # fmt: skip

SECTIONS = (
    "[ndbd default]", "[ndb_mgmd]\nHostName=m", "[ndbd]\nHostName=a", "[ndbd]\nHostName=b", "[mysqld]",
)  # fmt: skip


def test_the_line_above_a_value_says_where_it_came_from() -> None:
    plan = set_parameter(
        sample_plan("starter"), "data_node", "RedoBuffer", 2**26, SetByImport(file="my.ini", line=12)
    )
    decided = SetByProgram(rule="numa", reason="Memory of one socket is used first")
    plan = set_parameter(plan, "data_node", "Numa", 0, decided)
    lines = render_config_ini(plan).splitlines()
    assert lines[lines.index("RedoBuffer=64M") - 1] == "# imported: my.ini, line 12"
    assert lines[lines.index("Numa=0") - 1] == (
        "# set by the program, rule numa: Memory of one socket is used first"
    )
    assert any("was set by hand" in line for line in lines[:6])


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_in_their_comment(text: str) -> None:
    plain = sample_plan("starter")
    node = plain.data_nodes[0].id
    plan = put_origin(plain, "data_node", "RedoBuffer", SetByImport(file=file_name(text), line=1))
    reason = "".join(letter for letter in text if letter.isprintable())
    plan = set_parameter(plan, node, "Numa", 1, SetByProgram(rule="numa", reason=reason))
    plain = set_parameter(plain, node, "Numa", 1)
    written = render_config_ini(plan)

    def said(of: str) -> list[str]:
        return [line for line in of.splitlines() if not line.startswith("#")]

    assert said(written) == said(render_config_ini(plain))
    assert written.isascii()
    assert max(map(len, written.splitlines())) < 1023


def test_every_imported_value_names_the_line_where_it_stands() -> None:
    """A law: for any file, the line that an origin names holds the name of the parameter."""
    draw = random.Random(4)
    names = ("RedoBuffer", "DataMemory", "ODirect", "Numa", "TimeBetweenWatchDogCheck")
    for _ in range(40):
        lines: list[str] = []
        for section in SECTIONS:
            lines += section.split("\n")
            for name in draw.sample(names, 3) if "ndbd" in section else ():
                lines += ["# a comment"] * draw.randrange(3) + [f"{draw.choice((name, name.lower()))} = 1"]
        plan, _report = import_config({"/etc/some/config.ini": "\n".join(lines)}, "8.4")
        places = [(plan.parameters.data_node, plan.origins.data_node)]
        places += [(process.parameters, process.origins) for process in plan.processes]
        assert any(stated for stated, _ in places)
        for stated, origins in places:
            assert list(stated) == list(origins)
            for name, origin in origins.items():
                assert isinstance(origin, SetByImport)
                assert origin.file == "config.ini"
                assert lines[origin.line - 1].lower().startswith(name.lower())
