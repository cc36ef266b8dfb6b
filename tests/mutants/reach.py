"""Which tests reach which line of the program, and which of them to run for a mutant.

    reach = measured_reach(root)
    reach.tests_for(mutant)          # ["tests/ndb/test_rows.py::test_…", …]

One run of all tests, with each block of the program marked (`marking.py`), is kept in
`.pytest_cache/mutants/reach/`; files of tests that are new or changed since are run again and kept beside
it. Lines that have moved since a measurement are found again by their text.
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
from itertools import groupby
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from mutants.marking import FOLDER as MARKING
from mutants.marking import Reached, read
from mutants.planting import Mutant
from mutants.server import IS_PLAIN

_SCHEMA = "tests/golden/test_golden.py::test_every_number_is_as_it_was[without-a-plan-schema]"
ROOT = Path(__file__).resolve().parents[2]
FILES = "files.json"
CONSTANTS = "resources/ndb/constants.json"
NOT_FOR_NUMBERS = ("attack", "benchmarks", "mutants")
"""Folders of tests of hours, of time, of this."""
OF_THE_WINDOW = "desktop"
_WINDOW = f"tests/{OF_THE_WINDOW}/"
_BY_HAND = f"{_WINDOW}end_to_end/"
"""They want a screen and seconds each: not for mutants."""
_SHARES_S = (("named", 6.0), ("golden", 12.0), ("closest", 8.0))
"""Seconds of the tests that are run for one mutant first, by why they are chosen."""
_OTHERS_S = 150.0
"""Seconds of those that are run where these notice nothing."""
_IN_WINDOW_S = 40.0
"""Seconds of those with a window, which come last."""
_FEW = 8
"""Tests that reach a line of code whose answers may be kept for the next ones."""
_ALIKE = 3
"""Of the cases of one test function so many are run, for each reason."""
_PLAIN_S = 240.0
_IS_PLAIN = re.compile(r"simulate/kernel/(?!ready)|simulate/world")
"""Code that is compiled runs as plain Python, or each change would be compiled for half a minute."""
_ON_PLAIN = re.compile(r"tests/simulate/kernel/test_(?!form|plain|ready)|.*\[drawn-\d+-simulate\]")
"""No mark says which tests reach it, so these are run."""
_ON_COMPILED = re.compile(
    r"tests/simulate/(?!kernel|events|model)|tests/reality/test_(simulated|measured_load|disk_limited)"
    r"|tests/golden/.*-(simulate|runs|max-load)\]"
)
"""And these on compiled code, where plain Python would take minutes."""
_ON_COMPILED_S = 100.0
_OF_SOURCES = {
    "train/": "tests/train/test_error_texts.py",
    "checks/": "tests/checks/test_rules.py",
    "estimate/": "tests/estimate/test_numbers_in_formulas.py",
}
"""Tests that read the text of the program: no mark says what they reach, and a fork shows them no change."""
_COMPILED = {"ndb/keys/many/": "tests/ndb/keys/"}
"""The same that is compiled all the same: in parts, quickly."""


class Choice(NamedTuple):
    """What is run for a mutant."""

    names: list[str]
    limit_s: float = 60.0
    """A program that takes longer does not end."""
    is_plain: bool = False
    """What is compiled otherwise runs as plain Python."""
    is_alone: bool = False
    """In a process of their own: what is compiled was compiled before the fork, otherwise."""
    ends: bool = False
    """A few of them have shown that the program ends: that the others take too long says nothing."""

    def every_case(self) -> list[str]:
        """The tests of which a case is among these, each with all its cases; without kept answers."""
        cases = [name for name in self.names if "[" in name and "/golden/" not in name]
        return list(dict.fromkeys(name.partition("[")[0] for name in cases))


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

    def tests_for(self, mutant: Mutant) -> Choice:
        """Tests to run first, the quickest first, up to half a minute of them."""
        if _IS_PLAIN.match(mutant.path):
            names = sorted(filter(_ON_PLAIN.match, self.seconds), key=self._order)
            return Choice(names, _PLAIN_S, is_plain=True)
        reached = self._known(mutant)
        if mutant.path.startswith(tuple(_COMPILED)):
            # Each case is a type of column: the one that tells may be any.
            return Choice(sorted(reached, key=self._order), 120.0, is_alone=True)
        # A test that reaches little else looks most closely at the line.
        closest = sorted(reached, key=lambda test: (self.breadth[test], self.seconds[test], test))
        words = _words_about(mutant)
        about = {test: sum(word in test.replace("-", "_") for word in words) for test in reached}
        by_reason = {
            "named": sorted((test for test in closest if about[test]), key=lambda test: -about[test]),
            "golden": sorted((test for test in reached if "/golden/" in test), key=self._order),
            "closest": closest,
        }
        if _SCHEMA in reached and mutant.path.startswith("plan/"):
            by_reason["golden"].insert(0, _SCHEMA)
        chosen: dict[str, None] = {}
        for reason, most_s in _SHARES_S:
            tests = [test for test in by_reason[reason] if test not in chosen]
            chosen |= dict.fromkeys(self._at_most(tests, most_s, _ALIKE if reason != "golden" else 99))
        took_s = sum(self.seconds[test] for test in chosen)
        return Choice(sorted(chosen, key=self._order), 20.0 + 3.0 * took_s)

    def others_for(self, mutant: Mutant, ran: Choice) -> Choice:
        """The other tests that reach a mutant, the quickest first; none where all of them have run."""
        if mutant.path.startswith(tuple(_COMPILED)):
            return Choice([])
        if ran.is_plain:
            names = sorted(filter(_ON_COMPILED.match, self.seconds), key=self._order)
            return Choice(self._at_most(names, _ON_COMPILED_S, len(names)), _PLAIN_S, is_alone=True)
        others = sorted(self._known(mutant) - set(ran.names), key=self._order)
        chosen = self._at_most(others, _OTHERS_S, len(others))
        took_s = sum(self.seconds[test] for test in chosen)
        return Choice(chosen, 20.0 + 3.0 * took_s, ends=True)

    def of_sources_for(self, mutant: Mutant) -> Choice:
        """Tests that read the file of a mutant as text."""
        names = [test for start, test in _OF_SOURCES.items() if mutant.path.startswith(start)]
        return Choice(names, 60.0, is_alone=True)

    def in_window_for(self, mutant: Mutant) -> Choice:
        """Tests of the window that reach a mutant, those first that reach little else."""
        if _IS_PLAIN.match(mutant.path) or mutant.path.startswith(tuple(_COMPILED)):
            return Choice([])
        words = _words_about(mutant)

        def order(test: str) -> tuple[bool, int, float, str]:
            return not any(word in test for word in words), self.breadth[test], self.seconds[test], test

        reached = sorted((test for test in self._all_known(mutant) if test.startswith(_WINDOW)), key=order)
        chosen = self._at_most(reached, _IN_WINDOW_S, _ALIKE)
        took_s = sum(self.seconds[test] for test in chosen)
        return Choice(chosen, 20.0 + 3.0 * took_s, is_alone=True, ends=True)

    def _known(self, mutant: Mutant) -> set[str]:
        """Tests that reach a mutant and can be run without a window."""
        return {test for test in self._all_known(mutant) if not test.startswith(_WINDOW)}

    def _all_known(self, mutant: Mutant) -> set[str]:
        reached = self._reaching(mutant)
        return {test for test in reached if test in self.seconds and self.breadth[test]}

    def _order(self, test: str) -> tuple[float, str]:
        return self.seconds[test], test

    def _at_most(self, tests: Iterable[str], most_s: float, alike: int) -> list[str]:
        """Of these tests in their order so many as take so long together; one at least."""
        chosen: list[str] = []
        of_function = Counter[str]()
        left = most_s
        for test in tests:
            function, took_s = test.partition("[")[0], self.seconds[test]
            if (took_s <= left and of_function[function] < alike) or not chosen:
                chosen.append(test)
                of_function[function] += 1
                left -= took_s
        return chosen

    def _reaching(self, mutant: Mutant) -> set[str]:
        if mutant.path == CONSTANTS:
            return self._using(mutant)
        for start, folder in _COMPILED.items():
            if mutant.path.startswith(start):
                return {test for test in self.seconds if test.startswith(folder)}
        if mutant.is_in_function:
            found = self._at(mutant.path, mutant.line)
            # What is worked out once and kept is reached by the test that came first.
            return found if len(found) >= _FEW else found | self._using(mutant)
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
            line -= 1  # A block is known by the line where it begins.
        return lines.get(line) or self._anywhere(path)


@dataclass(frozen=True)
class _Measurement:
    """One run of tests: which lines each reached, how long it took, and the files as they were."""

    reached: Reached
    sources: dict[str, str]
    """Texts of the program by path below app/ndbplan."""
    hashes: dict[str, str]
    """Of the files of tests."""

    @classmethod
    def read(cls, folder: Path) -> _Measurement:
        texts = json.loads((folder / FILES).read_text(encoding="utf-8"))
        return cls(read(folder / "reached"), texts["sources"], texts["hashes"])

    def lines(self, code: Path) -> Iterator[tuple[str, dict[int, set[str]]]]:
        """Tests by the lines that the program has now, file by file."""
        for path, lines in self.reached.lines.items():
            if (code / path).is_file() and path in self.sources:
                moved = _moved(self.sources[path], (code / path).read_text(encoding="utf-8"))
                yield path, {now: lines[before] for now, before in moved.items() if before in lines}


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


def environment(tree: Path, is_plain: bool = False) -> dict[str, str]:
    """In which the program of a tree runs."""
    path = os.pathsep.join((str(tree / "app"), str(tree / "tests")))
    plain = {IS_PLAIN: "1", "NUMBA_DISABLE_JIT": "1"} if is_plain else {}
    return os.environ | {
        "PYTHONPATH": path, "QT_QPA_PLATFORM": "offscreen",
        "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(ROOT / ".pytest_cache" / "bytecode"),
        "NUMBA_CACHE_DIR": str(ROOT / ".pytest_cache" / "compiled"), **plain,
    }  # fmt: skip


def _files(root: Path) -> list[str]:
    """Every file of tests that may notice a number."""
    files = sorted((root / "tests").rglob("test_*.py"))
    found = [file.relative_to(root).as_posix() for file in files]
    return [
        file for file in found if file.split("/")[1] not in NOT_FOR_NUMBERS and not file.startswith(_BY_HAND)
    ]


def _hash(file: Path) -> str:
    """Of a file of tests with what lies beside it and is not a test."""
    beside = (path for path in sorted(file.parent.glob("*.py")) if not path.name.startswith("test_"))
    return sha1(b"".join(path.read_bytes() for path in (file, *beside))).hexdigest()


def _measure(root: Path, folder: Path, hashes: dict[str, str], jobs: int) -> None:
    """Run files of tests and keep which lines they reach."""
    print(f"measuring which lines the tests of {len(hashes)} files reach", flush=True)
    code = root / "app" / "ndbplan"
    sources = {
        file.relative_to(code).as_posix(): file.read_text(encoding="utf-8") for file in code.rglob("*.py")
    }
    (folder / "reached").mkdir(parents=True)
    subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "--dist", "worksteal", "--tb=line",
            "-p", "no:cacheprovider", "-p", "mutants.marking", *hashes,
        ],
        cwd=root, env=environment(root) | {MARKING: str(folder / "reached")}, check=False,
    )  # fmt: skip
    texts = {"sources": sources, "hashes": hashes}
    (folder / FILES).write_text(json.dumps(texts), encoding="utf-8")


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


def _compile(root: Path) -> None:
    """Compile the kernel, which takes longer than a test may: ended halfway it spoils what follows."""
    program = "from ndbplan.simulate.kernel.ready import prepare; prepare()"
    subprocess.run([sys.executable, "-c", program], env=environment(root), check=True)


def measured_reach(
    kept: Path, root: Path, jobs: int = 1, again: bool = False, as_it_is: bool = False
) -> Reach:
    """What the measurements in a folder show; new and changed files of tests are run first, or left out."""
    if again:
        rmtree(kept, ignore_errors=True)
    hashes = {file: _hash(root / file) for file in _files(root)}

    def last_of_each() -> dict[str, _Measurement]:
        """The last measurement of each file of tests that is as it was then."""
        folders = sorted((file.parent for file in kept.glob(f"*/{FILES}")), key=lambda one: int(one.name))
        return {
            file: one
            for one in map(_Measurement.read, folders)
            for file in one.hashes
            if hashes.get(file) == one.hashes[file]
        }

    last = last_of_each()
    missing = {file: value for file, value in hashes.items() if file not in last}
    if missing and not as_it_is:
        _compile(root)
        # Folder by folder: what is broken off keeps those that it has been through.
        for _, files in groupby(sorted(missing), lambda file: file.split("/")[1:-1][:1]):
            of_folder = {file: missing[file] for file in files}
            _measure(root, kept / str(len(list(kept.glob("*")))), of_folder, jobs)
        last = last_of_each()
    code = root / "app" / "ndbplan"
    reach = Reach(uses=_uses(code))
    for one in {id(one): one for one in last.values()}.values():
        mine = {test for test in one.reached.tests if last.get(test.partition("::")[0]) is one}
        reach.seconds |= {test: one.reached.tests[test] for test in mine}
        for path, lines in one.lines(code):
            kept_lines = reach.tests_of.setdefault(path, {})
            for line, tests in lines.items():
                kept_lines.setdefault(line, set()).update(tests & mine)
                reach.breadth.update(tests & mine)
    return reach
