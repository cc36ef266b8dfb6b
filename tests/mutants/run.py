"""`make mutants`: plant single changes one at a time, run the tests that reach them, print which survive.

    python tests/mutants/run.py                      300 mutants drawn with seed 1
    python tests/mutants/run.py --sample 40 --seed 7 --package estimate

Which tests reach which line is measured first, by one run of all tests with coverage (`reach.py`; kept under
`.pytest_cache/mutants`; `--reach` measures it again). Exit code 1: more than 15 % of the mutants survive.
`equivalent.toml` lists mutants that change nothing that can be seen, each with its reason; they do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mutants.planting import Mutant, planted, planted_in_constants
from mutants.reach import CONSTANTS, MOST_S, environment, measured_reach

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "app" / "ndbplan"
KEPT = ROOT / ".pytest_cache" / "mutants"
MOST_SURVIVE = 0.15
_LEFT_OUT = ("desktop/",)
"""What a person sees is held by pictures and by tests of what can be done, not by numbers."""

_NOT_FOUND = re.compile(r"^ERROR: not found: (.*)$", re.MULTILINE)


def all_mutants(packages: Sequence[str]) -> list[Mutant]:
    """Every mutant of the program, or of some packages."""
    found: list[Mutant] = []
    for file in sorted(CODE.rglob("*.py")):
        path = file.relative_to(CODE).as_posix()
        if "desktop" in packages or not path.startswith(_LEFT_OUT):
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
            while tests:
                done = subprocess.run(
                    [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests],
                    cwd=tree, env=environment(tree), capture_output=True, text=True, timeout=5 * MOST_S,
                )  # fmt: skip
                renamed = set(_NOT_FOUND.findall(done.stderr)) & {str(tree / test) for test in tests}
                if not renamed:
                    return done.returncode == 0
                # A parameter is part of a test's name: that another has come is no failure.
                tests = [test for test in tests if str(tree / test) not in renamed]
            return True
        except subprocess.TimeoutExpired:
            # Some changes make a loop endless, which a person would notice too.
            print(f"timed out       {mutant.what}", flush=True)
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
    reach = measured_reach(KEPT / "reach", ROOT, asked.reach)
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
                    number = sum(planted_in.values())
                    print(f"{number:4d} survived {count:4d} tests  {mutant.what}", flush=True)
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
