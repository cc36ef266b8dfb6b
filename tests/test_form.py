"""The form of the program: files that can be read in one go."""

from __future__ import annotations

from pathlib import Path

import ndbplan

MOST_LINES = 450


def test_no_file_is_longer_than_what_is_read_in_one_go() -> None:
    package = Path(ndbplan.__file__).parent
    lengths = {
        path.relative_to(package).as_posix(): path.read_text("utf-8").count("\n")
        for path in package.rglob("*.py")
    }
    assert len(lengths) > 400
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
