"""The form of the program: files that can be read in one go."""

from __future__ import annotations

import re
from pathlib import Path

import ndbplan
from ndbplan.base.resources import resources_dir

MOST_LINES = 450


def test_no_file_is_longer_than_what_is_read_in_one_go() -> None:
    package = Path(ndbplan.__file__).parent
    lengths = {
        path.relative_to(package).as_posix(): path.read_text("utf-8").count("\n")
        for path in package.rglob("*.py")
    }
    assert len(lengths) > 400
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_a_data_file_is_read_in_one_place() -> None:
    package, read = Path(ndbplan.__file__).parent, re.compile(r'"((?:[a-z_]+/)?[\w.-]+\.json)"')
    modules = [path.read_text("utf-8") for path in package.rglob("*.py")]
    named = [name for text in modules if "read_json" in text for name in {*read.findall(text)}]
    files = {path.relative_to(resources_dir()).as_posix() for path in resources_dir().rglob("*.json")}
    assert {name for name in named if named.count(name) > 1} == set()
    assert files == {*named}
