"""Which tests reach which line of the program, measured with coverage, and which of them to run for a mutant.

    reach = measured_reach(root)
    reach.tests_for(mutant)          # ["tests/ndb/test_rows.py::test_…", …]

One run of all tests is kept in `.pytest_cache/mutants/reach/`; tests that are new or changed since then are
measured alone and kept beside it. Lines that have moved since a measurement are found again by their text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha1
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from mutants.planting import Mutant

_SCHEMA = "tests/golden/test_golden.py::test_every_number_is_as_it_was[without-a-plan]"
CONSTANTS = "resources/ndb/constants.json"
MOST_S = 90.0
"""Tests that are run for one mutant took so long together with coverage; without it, a third of that."""
_NAMED_S = 50.0
"""Of which those whose names say that they are about it."""
_GOLDEN_PLANS = 3
"""Plans, the quickest, whose golden results are compared before other tests have their turn."""
_COMPILED = {"simulate/kernel/": "tests/simulate/", "ndb/keys/many/": "tests/ndb/keys/"}
"""Compiled code: coverage does not see which tests reach it, so those of the package are run."""


@dataclass
class Reach:
    """Which tests reach a line, and how long each takes."""

    tests_of: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    """By file below app/ndbplan and line."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of every test that there is."""
    uses: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Files and lines by the words in them."""
    breadth: Counter[str] = field(default_factory=Counter)
    """Lines that a test reaches."""

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Tests to run, the likeliest to notice first, up to a minute of them."""
        reached = {test for test in self._reaching(mutant) if test in self.seconds and self.breadth[test]}
        # A test that reaches little else looks most closely at the line.
        closest = sorted(reached, key=lambda test: (self.breadth[test], self.seconds[test], test))
        words = _words_about(mutant)
        about = {test: sum(word in test.replace("-", "_") for word in words) for test in reached}
        named = sorted((test for test in closest if about[test]), key=lambda test: -about[test])
        golden = sorted((t for t in reached if "/golden/" in t), key=lambda test: (self.seconds[test], test))
        first = self._at_most(named, _NAMED_S)
        schema = [_SCHEMA] if _SCHEMA in reached and mutant.path.startswith("plan/") else []
        return self._at_most(dict.fromkeys((*schema, *first, *golden[:_GOLDEN_PLANS], *closest)), MOST_S)

    def _at_most(self, tests: Iterable[str], most_s: float) -> list[str]:
        """Of these tests in their order so many as take so long together; one at least."""
        chosen: list[str] = []
        left = most_s
        for test in tests:
            if self.seconds[test] <= left or not chosen:
                chosen.append(test)
                left -= self.seconds[test]
        return chosen

    def _reaching(self, mutant: Mutant) -> set[str]:
        if mutant.path == CONSTANTS:
            return self._using(mutant)
        for start, folder in _COMPILED.items():
            if mutant.path.startswith(start):
                return {test for test in self.seconds if test.startswith((folder, "tests/golden/"))}
        if mutant.is_in_function:
            return self._at(mutant.path, mutant.line)
        # Values of a module are set when it is imported, by whichever test comes first. Limits of fields are
        # read by pydantic: no line of ours says where; they show in the schema of the plan file.
        found = self._using(mutant) or self._anywhere(mutant.path)
        return found | {_SCHEMA} if mutant.path.startswith("plan/") else found

    def _using(self, mutant: Mutant) -> set[str]:
        """Tests that reach a line with the name of a value of a module, or of a constant."""
        is_own = mutant.within.startswith("_")
        places = (
            place for place in self.uses.get(mutant.within, ()) if place[0] == mutant.path or not is_own
        )
        found: set[str] = set()
        return found.union(*(self._at(path, line) for path, line in places if line != mutant.line))

    def _anywhere(self, path: str) -> set[str]:
        found: set[str] = set()
        return found.union(*self.tests_of.get(path, {}).values())

    def _at(self, path: str, line: int) -> set[str]:
        lines = self.tests_of.get(path)
        if lines is None:
            # A file that is newer than the measurements.
            folder = f"tests/{path.split('/')[0]}/"
            return {test for test in self.seconds if test.startswith((folder, "tests/golden/"))}
        while line and line not in lines:
            line -= 1  # Coverage knows statements by the line where they begin.
        return lines.get(line) or self._anywhere(path)


@dataclass(frozen=True)
class _Measurement:
    """One run of tests with coverage: the data, how long each took, and the files as they were."""

    folder: Path
    seconds: dict[str, float]
    sources: dict[str, str]
    """Texts of the program by path below app/ndbplan."""
    hashes: dict[str, str]
    """Of the files of tests."""

    @classmethod
    def read(cls, folder: Path, root: Path) -> _Measurement:
        texts = json.loads((folder / "files.json").read_text(encoding="utf-8"))
        return cls(folder, _seconds(folder / "times.xml", root), texts["sources"], texts["hashes"])

    def lines(self, code: Path) -> Iterator[tuple[str, dict[int, set[str]]]]:
        """Tests by the lines that the program has now, file by file."""
        from coverage import CoverageData

        data = CoverageData(basename=str(self.folder / "coverage"))
        data.read()
        for file in data.measured_files():
            path = file.partition("/app/ndbplan/")[2]
            if not (code / path).is_file() or path not in self.sources:
                continue
            moved = _moved(self.sources[path], (code / path).read_text(encoding="utf-8"))
            contexts = data.contexts_by_lineno(file)
            yield (
                path,
                {
                    now: {context.rpartition("|")[0] for context in contexts[before] if context}
                    for now, before in moved.items()
                    if before in contexts
                },
            )


def _moved(before: str, now: str) -> dict[int, int]:
    """The line before for each line now; a new line has the reach of the one above it."""
    old, new = before.splitlines(), now.splitlines()
    if old == new:
        return {line: line for line in range(1, len(new) + 1)}
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    known = {b + i: a + i for a, b, size in blocks for i in range(1, size + 1)}
    last = 1
    for line in range(1, len(new) + 1):
        last = known.setdefault(line, last)
    return known


def _seconds(times: Path, root: Path) -> dict[str, float]:
    """Duration of each test by its node id."""
    found = {}
    for case in ElementTree.parse(times).iter("testcase"):
        parts = case.get("classname", "").split(".")
        ends = (
            i for i in range(len(parts), 0, -1) if (root / "/".join(parts[:i])).with_suffix(".py").is_file()
        )
        end = next(ends, len(parts))
        place = "::".join(("/".join(parts[:end]) + ".py", *parts[end:], case.get("name", "")))
        found[place] = float(case.get("time", 0))
    return found


def environment(tree: Path) -> dict[str, str]:
    """In which the program of a tree runs."""
    return os.environ | {"PYTHONPATH": str(tree / "app"), "QT_QPA_PLATFORM": "offscreen"}


def _collected(root: Path) -> list[str]:
    """Every test there is, by its node id."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider"],
        cwd=root, env=environment(root), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if line.startswith("tests/")]


def _hash(file: Path) -> str:
    """Of a file of tests with what lies beside it and is no test."""
    beside = (path for path in sorted(file.parent.glob("*.py")) if not path.name.startswith("test_"))
    return sha1(b"".join(path.read_bytes() for path in (file, *beside))).hexdigest()


def _measure(root: Path, folder: Path, tests: list[str], hashes: dict[str, str]) -> None:
    """Run tests with coverage and keep what it showed."""
    print(f"measuring which lines {len(tests)} tests reach", flush=True)
    code = root / "app" / "ndbplan"
    sources = {
        file.relative_to(code).as_posix(): file.read_text(encoding="utf-8") for file in code.rglob("*.py")
    }
    folder.mkdir(parents=True)
    with TemporaryDirectory() as place:
        named = Path(place) / "tests.txt"
        named.write_text("\n".join(tests), encoding="utf-8")
        subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal",
                "-p", "no:cacheprovider",
                "--cov=ndbplan", "--cov-context=test", "--cov-report=", f"--junitxml={folder / 'times.xml'}",
                f"@{named}",
            ],
            cwd=root, env=environment(root) | {"COVERAGE_FILE": str(folder / "coverage")}, check=False,
        )  # fmt: skip
    files = {"sources": sources, "hashes": hashes}
    (folder / "files.json").write_text(json.dumps(files), encoding="utf-8")


def _words_about(mutant: Mutant) -> set[str]:
    """Words that the names of tests of a mutant's line may hold."""
    found = {Path(mutant.path).stem, mutant.within, *re.findall(r"\w+", mutant.text)}
    return {word.strip("_") for word in found if len(word.strip("_")) >= 5}


def _uses(code: Path) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for file in sorted(code.rglob("*.py")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for name in set(re.findall(r"[A-Za-z_]\w{3,}", line)):
                found.setdefault(name, []).append((file.relative_to(code).as_posix(), number))
    return found


def measured_reach(kept: Path, root: Path, again: bool = False) -> Reach:
    """What the measurements in a folder show; new and changed tests are measured first."""
    if again:
        rmtree(kept, ignore_errors=True)
    here = _collected(root)
    file_of = {test: test.partition("::")[0] for test in here}
    hashes = {file: _hash(root / file) for file in set(file_of.values())}

    def all_measured() -> list[_Measurement]:
        folders = (file.parent for file in kept.glob("*/files.json"))
        return [_Measurement.read(folder, root) for folder in sorted(folders, key=lambda one: int(one.name))]

    def last_of_each(measured: Iterable[_Measurement]) -> dict[str, _Measurement]:
        return {
            test: one
            for one in measured
            for test in one.seconds
            if test in file_of and one.hashes.get(file_of[test]) == hashes[file_of[test]]
        }

    measured = all_measured()
    last = last_of_each(measured)
    if missing := [test for test in here if test not in last]:
        _measure(root, kept / str(len(measured)), missing, hashes)
        measured = all_measured()
        last = last_of_each(measured)
    code = root / "app" / "ndbplan"
    reach = Reach(uses=_uses(code))
    reach.seconds = {test: one.seconds[test] for test, one in last.items()}
    for one in measured:
        for path, lines in one.lines(code):
            kept_lines = reach.tests_of.setdefault(path, {})
            for line, tests in lines.items():
                mine = {test for test in tests if last.get(test) is one}
                kept_lines.setdefault(line, set()).update(mine)
                reach.breadth.update(mine)
    return reach
