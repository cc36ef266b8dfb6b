"""The golden files: how they are written, compared, and where a number in them is known to be wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from golden.commands import FOLDER, folder_of, results, titles
from golden.text import same
from ndbplan.base.kept import keeping
from ndbplan.plan import file as plan_file

KNOWN_WRONG = FOLDER / "known_wrong.toml"
_MARK = "  # known wrong: "
_SHOWN = 12


class Wrong(NamedTuple):
    """A number that nobody should defend because it stands in a golden file."""

    plan: str
    file: str
    line: str
    """How the line begins, with * for anything: its path."""
    why: str
    until: str
    """What will change it."""

    def is_about(self, plan: str, file: str, line: str) -> bool:
        """Whether it speaks of this line."""
        return _fits(self.plan, plan) and _fits(self.file, file) and _fits(self.line + "*", line)


def known_wrong() -> tuple[Wrong, ...]:
    """The numbers that are known to be wrong."""
    return tuple(Wrong(**row) for row in tomllib.loads(KNOWN_WRONG.read_text("utf-8")).get("wrong", ()))


def _fits(pattern: str, text: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), text) is not None


def answers(plan: str, asked: Collection[str] = ()) -> dict[str, list[str]]:
    """What the program says now to what is asked, or to all; behind what is known to be wrong a mark."""
    wrong = known_wrong()
    with TemporaryDirectory(prefix="golden-") as folder, each_file_read_once():
        return {
            file: [_marked(line, [w for w in wrong if w.is_about(plan, file, line)]) for line in lines]
            for file, lines in results(plan, asked or titles(plan), Path(folder))
        }


@contextmanager
def each_file_read_once() -> Iterator[None]:
    """Commands about one file get one plan, and so what was worked out for the command before."""
    with pytest.MonkeyPatch.context() as patched, keeping():
        patched.setattr(plan_file, "load_project", cache(plan_file.load_project))
        yield


def _marked(line: str, wrong: Sequence[Wrong]) -> str:
    return line + "".join(f"{_MARK}{one.why}; {one.until}" for one in wrong)


def kept(plan: str, title: str = "*") -> dict[str, list[str]]:
    """What the golden files of a plan say, by file name; of one command, or of all."""
    files = sorted(folder_of(plan).glob(f"{title}.txt"))
    return {path.name: path.read_text("utf-8").splitlines() for path in files}


def differences(plan: str, before: dict[str, list[str]], now: dict[str, list[str]]) -> Iterator[str]:
    """The first lines that differ, file by file."""
    for file in sorted(before.keys() | now.keys()):
        if file not in now or file not in before:
            yield f"{plan}/{file}: {'is no longer made' if file in before else 'is new'}"
            continue
        pairs = list(_pairs(before[file], now[file]))
        for old, new in pairs[:_SHOWN]:
            yield f"{plan}/{file}:"
            yield from (f"  - {line}" for line in old[:_SHOWN])
            yield from (f"  + {line}" for line in new[:_SHOWN])
        if len(pairs) > _SHOWN:
            yield f"{plan}/{file}: and {len(pairs) - _SHOWN} more places"


def _pairs(before: list[str], now: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Lines that were and lines that are instead."""
    if len(before) == len(now):
        yield from (([old], [new]) for old, new in zip(before, now, strict=True) if not same(old, new))
        return
    from difflib import SequenceMatcher

    for kind, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind != "equal" and not (b - a == d - c and all(map(same, before[a:b], now[c:d]))):
            yield before[a:b], now[c:d]


def rewrite(plan: str, title: str = "") -> list[str]:
    """Write the golden files of a plan anew, or one; lines that differ only by rounding stay."""
    before, now = kept(plan, title or "*"), answers(plan, [title] if title else ())
    folder = folder_of(plan)
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for file in sorted(before.keys() | now.keys()):
        if file not in now:
            (folder / file).unlink()
        elif file in before and not list(_pairs(before[file], now[file])):
            continue
        else:
            lines = now[file]
            if len(before.get(file, ())) == len(lines):
                both = zip(before[file], lines, strict=True)
                lines = [old if same(old, new) else new for old, new in both]
            (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        changed.append(f"{plan}/{file}")
    return changed
