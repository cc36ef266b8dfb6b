"""The guide and the README say what is true: links lead somewhere, commands and keys exist."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.cli import all_commands
from ndbplan.plan.samples import sample_names

GUIDE = resource_path("guide")
ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(GUIDE.glob("*.md")), *sorted(ROOT.glob("*.md"))]
COMMANDS = all_commands().commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).is_file(), f"{page.name} links to {target}"


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (GUIDE / "index.md").read_text(encoding="utf-8")
    assert [
        page.name for page in GUIDE.glob("*.md") if page.name != "index.md" and page.name not in index
    ] == []


def commands_of_guide() -> dict[str, str]:
    """Each command that the guide lists, with its row."""
    text = (GUIDE / "command-line.md").read_text(encoding="utf-8").replace("\\|", "/")
    rows = re.findall(r"^\| `ndbplan ([^`]+)`", text, re.M)
    return {re.sub(r"^\[?([a-z-]+).*", r"\1", row): row for row in rows}


def test_the_guide_lists_exactly_the_commands_there_are() -> None:
    assert set(commands_of_guide()) == set(COMMANDS)


def test_the_guide_names_options_that_exist() -> None:
    for name, row in commands_of_guide().items():
        known = {option for param in COMMANDS[name].params for option in param.opts}
        assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", row)) <= known, name


def test_every_command_but_the_window_speaks_json() -> None:
    silent = [n for n, c in COMMANDS.items() if not any("--json" in param.opts for param in c.params)]
    assert silent == ["open"]


def test_every_command_explains_itself() -> None:
    for name, command in COMMANDS.items():
        assert isinstance(command, click.Command)
        assert command.help, name
        assert "--help" in command.get_help(click.Context(command)), name


def test_the_samples_are_listed() -> None:
    text = (GUIDE / "getting-started.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([a-z0-9.-]+) \|", text, re.M) == list(sample_names())


def test_the_keys_are_those_of_the_actions(qapp: object) -> None:
    from PySide6.QtGui import QKeySequence

    from ndbplan.desktop.actions import SPECS

    text = (GUIDE / "shortcuts.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \w+ \| ([^|]+) \| ([^|]+) \|", text, re.M))
    for spec in SPECS:
        keys = [QKeySequence(key).toString() for key in spec.keys]
        for key in keys:
            assert key in rows[spec.text].split(", ") or not key, f"{spec.text} has {key}"
    assert set(rows) - {"Action"} <= {spec.text for spec in SPECS}
