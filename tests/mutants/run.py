"""`make mutants`: plant single changes one at a time, run the tests that reach them, print which survive.

    python tests/mutants/run.py                      300 mutants drawn with seed 1
    python tests/mutants/run.py --sample 40 --seed 7 --package estimate
    python tests/mutants/run.py --first-tests, then --survivors     the same in two parts: the quick one first

Which tests reach which line is measured first, by one run of all tests (`reach.py`; kept under
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
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mutants.planting import Mutant, planted, planted_in_constants
from mutants.reach import (
    CONSTANTS,
    NOT_FOR_NUMBERS,
    OF_THE_WINDOW,
    ROOT,
    Choice,
    environment,
    measured_reach,
)
from mutants.server import PIPES, WAITS, written

CODE = ROOT / "app" / "ndbplan"
KEPT = ROOT / ".pytest_cache" / "mutants"
MOST_SURVIVE = 0.15
_LEFT_OUT = ("desktop/",)
"""The window itself is held by pictures and by tests of what can be done, not by numbers."""

_NONE = Choice([])
_ALL_CASES_S = 180.0
"""So long all cases of some tests are run; what does not fail by then is not noticed."""
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


def every_case_of(tests: Choice) -> Choice:
    """Of a test with many cases few were measured, and are chosen: where these pass, all cases are run."""
    names = [] if tests.is_plain else tests.every_case()
    return Choice(names, _ALL_CASES_S, is_alone=True, ends=True)


class Tree:
    """A copy of the project in which mutants are planted, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._servers: dict[bool, Served] = {}
        shutil.rmtree(folder, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        for name in ("app", "tests", "resources", "packaging"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "Makefile"):
            shutil.copy(ROOT / name, folder / name)

    def survives(self, mutant: Mutant, *stages: Choice, in_window: Choice = _NONE) -> bool:
        """Whether no test fails with the mutant planted, stage by stage. None: it survives.

        What fails in a window counts only where it passes without the mutant.
        """
        if not all(self._passes_planted(mutant, stage) for stage in stages if stage.names):
            return False
        is_seen = in_window.names and not self._passes_planted(mutant, in_window)
        return not (is_seen and self._passes(in_window))

    def _passes_planted(self, mutant: Mutant, tests: Choice) -> bool:
        file = self.folder / mutant.path if mutant.path == CONSTANTS else self._code / mutant.path
        source = file.read_text(encoding="utf-8")
        if mutant.is_in_function and not tests.is_alone:
            found = self._server(tests.is_plain).ask(
                file=str(file), before=source, after=mutant.applied(source), tests=tests.names,
                seconds=tests.limit_s,
            )  # fmt: skip
            if not found.get("stale"):
                return bool(found.get("failed", None if tests.ends else "timed out") is None)
        with written(file, mutant.applied(source)):
            return self._passes(tests)

    def close(self) -> None:
        """End what was started."""
        for server in self._servers.values():
            server.close()

    @property
    def _code(self) -> Path:
        return self.folder / "app" / "ndbplan"

    def _server(self, is_plain: bool) -> Served:
        if is_plain not in self._servers:
            self._servers[is_plain] = Served(self.folder, is_plain)
        return self._servers[is_plain]

    def _passes(self, tests: Choice) -> bool:
        """Whether tests pass in a process of their own."""
        names, plugin = tests.names, ["-p", "mutants.server"] if tests.is_plain else []
        limit_s = int(tests.limit_s + 60.0)
        while names:
            try:
                done = subprocess.run(
                    [
                        "prlimit", f"--cpu={limit_s}", sys.executable, "-m", "pytest", "-x", "-q", "-n", "0",
                        "--tb=no", "-p", "no:cacheprovider", *plugin, *names,
                    ],
                    cwd=self.folder, env=environment(self.folder, tests.is_plain),
                    capture_output=True, text=True, timeout=WAITS * limit_s,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                # Some changes make a loop endless, which a person would notice too.
                return tests.ends
            if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                return tests.ends
            renamed = {name.removeprefix(f"{self.folder}/") for name in _NOT_FOUND.findall(done.stderr)}
            if not renamed & set(names):
                return done.returncode == 0
            # A parameter is part of a test's name: that another has come is no failure.
            names = [name for name in names if name not in renamed]
        return True


class Served:
    """A process that answers whether tests notice a change; `server.py` says how."""

    def __init__(self, tree: Path, is_plain: bool) -> None:
        asks, self_asks = os.pipe()
        self_hears, answers = os.pipe()
        folders = sorted(path for path in (tree / "tests").iterdir() if path.is_dir())
        left_out = {*NOT_FOR_NUMBERS, OF_THE_WINDOW}
        tests = [str(path) for path in folders if path.name not in left_out and "__" not in path.name]
        self._process = subprocess.Popen(
            [
                sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=no", "-p", "no:cacheprovider",
                "-p", "mutants.server", f"--basetemp={tree / 'temporary'}", *tests,
            ],
            cwd=tree, env=environment(tree, is_plain) | {PIPES: f"{asks},{answers}"},
            stdout=subprocess.DEVNULL, pass_fds=(asks, answers),
        )  # fmt: skip
        os.close(asks)
        os.close(answers)
        self._asked = os.fdopen(self_asks, "w", encoding="utf-8")
        self._heard = os.fdopen(self_hears, encoding="utf-8")
        print("imported and collected:", self._heard.readline().strip(), flush=True)

    def ask(self, **question: Any) -> dict[str, Any]:
        """What it says of one change."""
        print(json.dumps(question), file=self._asked, flush=True)
        answer: dict[str, Any] = json.loads(self._heard.readline())
        return answer

    def close(self) -> None:
        """End it."""
        self._asked.close()
        self._process.wait()


def main() -> int:
    """Draw, plant, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--package", action="append", default=[])
    parser.add_argument("--reach", action="store_true", help="measure again which tests reach which lines")
    parser.add_argument("--as-measured", action="store_true", help="without tests that are newer than that")
    parser.add_argument("--first-tests", action="store_true", help="no others where those notice nothing")
    parser.add_argument("--survivors", action="store_true", help="only those that survived the last time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    reach = measured_reach(KEPT / "reach", ROOT, asked.jobs, asked.reach, asked.as_measured)
    mutants = all_mutants(asked.package)
    drawn = random.Random(asked.seed).sample(mutants, min(asked.sample, len(mutants)))
    if asked.survivors:
        left = set(json.loads((KEPT / "survivors.json").read_text(encoding="utf-8")))
        drawn = [mutant for mutant in mutants if mutant.what in left]
    planted_in, surviving = Counter[str](), list[Mutant]()
    print(f"{len(drawn)} of {len(mutants)} mutants, seed {asked.seed}", flush=True)
    # Where a tree lies, compiled code is found again.
    trees = [Tree(KEPT / "trees" / str(number)) for number in range(asked.jobs)]
    free = Queue[Tree]()
    for tree in trees:
        free.put(tree)

    def one(mutant: Mutant) -> tuple[Mutant, bool, int, float]:
        tests, tree, began = reach.tests_for(mutant), free.get(), time.monotonic()
        others, in_window = reach.others_for(mutant, tests), reach.in_window_for(mutant)
        try:
            survives = tree.survives(mutant, tests, reach.of_sources_for(mutant))
            if survives and not asked.first_tests:
                survives = tree.survives(mutant, others, every_case_of(tests), in_window=in_window)
        finally:
            free.put(tree)
        count = sum(len(some.names) for some in (tests, others, in_window))
        return mutant, survives, count, time.monotonic() - began

    with ThreadPoolExecutor(asked.jobs) as pool:
        for number, (mutant, survives, count, took_s) in enumerate(pool.map(one, drawn), 1):
            planted_in[mutant.package] += 1
            if survives:
                surviving.append(mutant)
            said = "SURVIVED" if survives else "noticed"
            print(f"{number:4d} {said:8} {count:4d} tests {took_s:5.1f} s  {mutant.what}", flush=True)
    for tree in trees:
        tree.close()
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
