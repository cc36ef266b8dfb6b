"""`make mutants`: plant single changes one at a time, run the tests that reach them, print which survive.

    python tests/mutants/run.py                      300 mutants drawn with seed 1
    python tests/mutants/run.py --sample 40 --seed 7 --package estimate

Which tests reach which line is measured first, by one run of all tests with coverage (kept under
`.pytest_cache/mutants`; `--reach` measures it again). Exit code 1: more than 15 % of the mutants survive.
`equivalent.toml` lists mutants that change nothing that can be seen, each with its reason; they do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mutants.planting import Mutant, planted, planted_in_constants

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "app" / "ndbplan"
CONSTANTS = "resources/ndb/constants.json"
KEPT = ROOT / ".pytest_cache" / "mutants"
MOST_SURVIVE = 0.15
_MOST_S = 60.0
"""Tests that are run for one mutant take so long together, at most."""
_COMPILED = ("simulate/kernel/", "ndb/keys/many/")
"""Compiled code: coverage does not see which tests reach it, so those of the package are run."""
_LEFT_OUT = ("desktop/",)
"""What a person sees is held by pictures and by tests of what can be done, not by numbers."""


@dataclass(frozen=True)
class Reach:
    """Which tests reach a line, and how long each takes."""

    tests_of: dict[str, dict[int, tuple[str, ...]]]
    """By file below app/ndbplan and line."""
    seconds: dict[str, float]

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Tests to run, the likeliest to notice and the quickest first, up to a minute of them."""
        lines = self.tests_of.get(mutant.path, {})
        reached: Iterable[str] = lines.get(mutant.line, ())
        if not reached:
            # Values of a module are set when it is imported, by whichever test comes first.
            reached = {test for tests in lines.values() for test in tests}
        if mutant.path == CONSTANTS:
            reached = [t for t in self.seconds if "golden" in t or "/estimate/" in t or "/reality/" in t]
        if mutant.path.startswith(_COMPILED):
            part = "tests/simulate/" if mutant.path.startswith("simulate") else "tests/ndb/keys/"
            reached = [test for test in self.seconds if test.startswith(part)]
        own = f"test_{Path(mutant.path).stem}.py"

        def order(test: str) -> tuple[bool, bool, float]:
            return own not in test, "golden" not in test, self.seconds.get(test, 1.0)

        chosen, spent = [], 0.0
        for test in sorted(set(reached), key=order):
            spent += self.seconds.get(test, 1.0)
            if spent > _MOST_S and chosen:
                break
            chosen.append(test)
        return chosen


def measured_reach(again: bool) -> Reach:
    """What the run of all tests with coverage showed."""
    data, times = KEPT / "coverage", KEPT / "times.xml"
    if again or not data.exists() or not times.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        print("measuring which tests reach which lines: one run of all tests", flush=True)
        subprocess.run(
            [
                sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal",
                "-p", "no:cacheprovider", "--cov=ndbplan", "--cov-context=test", "--cov-report=",
                f"--junitxml={times}",
            ],
            cwd=ROOT, env=_environment(ROOT) | {"COVERAGE_FILE": str(data)}, check=False,
        )  # fmt: skip
    from coverage import CoverageData

    found = CoverageData(basename=str(data))
    found.read()
    tests_of = {}
    for file in found.measured_files():
        lines = found.contexts_by_lineno(file)
        path = Path(file).relative_to(CODE).as_posix()
        tests_of[path] = {
            line: tuple(sorted({context.partition("|")[0] for context in contexts if context}))
            for line, contexts in lines.items()
        }
    return Reach(tests_of, _seconds(times))


def _seconds(times: Path) -> dict[str, float]:
    """Duration of each test by its node id."""
    found = {}
    for case in ElementTree.parse(times).iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        found[f"{place.replace('.', '/')}.py::{name}"] = float(case.get("time", 0))
    return found


def _environment(tree: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(tree / "app"), "QT_QPA_PLATFORM": "offscreen"}


def all_mutants(packages: Sequence[str]) -> list[Mutant]:
    """Every mutant of the program, or of some packages."""
    found: list[Mutant] = []
    for file in sorted(CODE.rglob("*.py")):
        path = file.relative_to(CODE).as_posix()
        if not path.startswith(_LEFT_OUT):
            found += planted(file.read_text(encoding="utf-8"), path)
    found += planted_in_constants((ROOT / CONSTANTS).read_text(encoding="utf-8"), CONSTANTS)
    equivalent = {(row["path"], row["line"], row["change"]) for row in _equivalent()}
    return [
        mutant
        for mutant in found
        if (not packages or mutant.package in packages)
        and (mutant.path, mutant.text, f"{mutant.before.strip()} -> {mutant.after.strip()}") not in equivalent
    ]


def _equivalent() -> list[dict[str, str]]:
    rows: list[dict[str, str]] = tomllib.loads(
        (Path(__file__).parent / "equivalent.toml").read_text(encoding="utf-8")
    ).get("mutant", [])
    return rows


class Trees:
    """Copies of the project in which mutants are planted, one for each that works."""

    def __init__(self, folder: Path, count: int) -> None:
        self._free: Queue[Path] = Queue()
        for number in range(count):
            tree = folder / str(number)
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            for name in ("app", "tests", "resources", "packaging"):
                shutil.copytree(ROOT / name, tree / name, ignore=ignored)
            for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile"):
                shutil.copy(ROOT / name, tree / name)
            self._free.put(tree)

    def survives(self, mutant: Mutant, tests: list[str]) -> bool:
        """Whether none of these tests fails with the mutant planted. None to run: it survives."""
        if not tests:
            return True
        tree = self._free.get()
        file = tree / mutant.path if mutant.path == CONSTANTS else tree / "app" / "ndbplan" / mutant.path
        source = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.applied(source), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests],
                cwd=tree, env=_environment(tree), capture_output=True, timeout=5 * _MOST_S,
            )  # fmt: skip
            return done.returncode == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            file.write_text(source, encoding="utf-8")
            self._free.put(tree)


def main() -> int:
    """Draw, plant, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--reach", action="store_true", help="measure again which tests reach which lines")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    reach = measured_reach(asked.reach)
    mutants = all_mutants(asked.package)
    drawn = random.Random(asked.seed).sample(mutants, min(asked.sample, len(mutants)))
    planted_in, surviving = Counter[str](), list[Mutant]()
    print(f"{len(drawn)} of {len(mutants)} mutants, seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        trees = Trees(Path(folder), asked.jobs)

        def one(mutant: Mutant) -> tuple[Mutant, bool, int]:
            tests = reach.tests_for(mutant)
            return mutant, trees.survives(mutant, tests), len(tests)

        with ThreadPoolExecutor(asked.jobs) as pool:
            for mutant, survives, count in pool.map(one, drawn):
                planted_in[mutant.package] += 1
                if survives:
                    surviving.append(mutant)
                    print(f"survived {count:4d} tests  {mutant.what}", flush=True)
    return _told(planted_in, surviving)


def _told(planted_in: Counter[str], surviving: list[Mutant]) -> int:
    alive = Counter(mutant.package for mutant in surviving)
    for package, count in sorted(planted_in.items()):
        print(f"{package:14} {count:5d} planted {alive[package]:4d} survived {alive[package] / count:6.1%}")
    total = sum(planted_in.values())
    share = len(surviving) / total if total else 0.0
    told = f"{len(surviving):4d} survived {share:6.1%} (at most {MOST_SURVIVE:.0%})"
    print(f"{'all':14} {total:5d} planted {told}")
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / "survivors.json").write_text(json.dumps([m.what for m in surviving], indent=1), encoding="utf-8")
    return 1 if share > MOST_SURVIVE else 0


if __name__ == "__main__":
    sys.exit(main())
