"""Plans with fields at the ends of what a file may hold, through everything the program does with a plan.

    python tests/attack/plans.py --plans 10000 --seconds 3600 --seed 7

Each gives answers with finite numbers, or an error in one line, soon.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.plan import file
from ndbplan.plan.file import PlanFileError
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of

LONGEST_S = 20.0
"""Processor time within which one question about a plan of a few nodes is answered."""
MOST_BYTES = 20_000_000
"""Of an answer, or of all exported files together."""

SAMPLES = ("starter", "disk-data", "add-nodes", "tick-store-8.4", "terabyte-load-8.4", "redo-overload")
NUMBERS: tuple[float, ...] = (
    0, 1, 2, 3, 7, 63, 64, 144, 145, 255, 256, 8160, 65535, 65536, 10**6, 2**31 - 1, 2**32, 10**9, 10**12,
    10**15, 2**60, 1e-9, 1e-6, 1e-3, 0.5, 0.999999, 1.0000001, 1e9, 1e14, 1e15, 1e18,
)  # fmt: skip
TEXTS = ("é" * 64, "a" * 64, "`;--'\"\\", "{{ x }}", "<&>", "😀", "#", "%s", "-", "NULL", "x" * 500)
VERSIONS = ("6.3", "7.0.9", "7.1", "7.2", "7.4.10", "7.5", "7.6.4", "8.0.17", "8.0.18", "8.4.8", "9.1")


class Finding(NamedTuple):
    """A question that was not answered as it should be."""

    question: str
    what: str
    plan: str


def extreme(random: Random) -> Plan | None:
    """A sample of which some fields have other values; None: no file may hold that."""
    document = json.loads(file.dumps(sample_plan(random.choice(SAMPLES))))
    if random.random() < 0.6:
        document["ndb_version"] = random.choice(VERSIONS)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        holder, key = random.choice(list(_leaves(document)))
        value = holder[key]
        if isinstance(value, bool):
            holder[key] = not value
        elif isinstance(value, int | float):
            number = random.choice(NUMBERS)
            holder[key] = int(number) if isinstance(value, int) else number
        elif isinstance(value, str) and key not in ("kind", "id", "format_version"):
            holder[key] = random.choice(TEXTS)
        elif isinstance(value, list) and value:
            holder[key] = random.choice(([], value[:1], value[1:], [*value, *value]))
    try:
        return file.from_document(document).main
    except PlanFileError:
        return None


def _leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Holder and key of everything in a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in pairs:
        yield value, key
        if isinstance(inside, dict | list):
            yield from _leaves(inside)


def questions() -> dict[str, Callable[[Plan], str]]:
    """What is asked of each plan; each gives its answer as text."""
    from ndbplan.advise.max_load import max_load
    from ndbplan.checks.run import check
    from ndbplan.edits.growth import add_node_group
    from ndbplan.estimate.estimation import Estimation, chosen_workload
    from ndbplan.exporting.export import render_files
    from ndbplan.operations.add_nodes import add_nodes
    from ndbplan.simulate.run import simulate

    def estimated(plan: Plan) -> str:
        now = Estimation(plan, chosen_workload(plan, None))
        return json.dumps(now.to_json(why=True), allow_nan=False)

    def simulated(plan: Plan) -> str:
        if not plan.workloads:
            return ""
        return json.dumps(simulate(estimation_of(plan), duration_s=5).to_json(), allow_nan=False)

    def rated(plan: Plan) -> str:
        if not plan.workloads:
            return ""
        return json.dumps(
            max_load(estimation_of(plan), duration_s=60, with_next=False).to_json(), allow_nan=False
        )

    return {
        "estimate": estimated,
        "check": lambda plan: json.dumps([problem.to_json() for problem in check(plan)], allow_nan=False),
        "simulate": simulated,
        "procedure": lambda plan: json.dumps(add_nodes(Estimation(plan)).to_json(why=True), allow_nan=False),
        "export": lambda plan: "".join(render_files(plan).values()),
        "grow": lambda plan: file.dumps(add_node_group(plan)),
        "max-load": rated,
        "report": _reported,
        "render": _rendered,
    }


REPORTED = 50
"""One in so many plans is made into a report, which takes as long as all else: 200 of 10 000."""


def _reported(plan: Plan) -> str:
    """A report of the plan without what takes longest, which verifies."""
    if _COUNTED[0] % REPORTED:
        return ""
    return verified_report(plan)


def verified_report(plan: Plan) -> str:
    """An HTML report, found to say what comes out again. AssertionError where it does not."""
    from ndbplan.plan.project import Project
    from ndbplan.report.compose import SECTIONS, Options
    from ndbplan.report.verify import verify
    from ndbplan.report.write import report

    options = Options(sections=tuple(kind.key for kind in SECTIONS if not kind.slow))
    content = report(Project.of(plan), options, ".html")
    found = verify(content, "report.html")
    assert not found.differ, found.differ[:3]
    return content.decode("utf-8")


def _rendered(plan: Plan) -> str:
    """The picture of the canvas, which must be XML."""
    from ndbplan.desktop.render import render

    path = _folder() / "plan.svg"
    render(plan, path)
    text = path.read_text("utf-8")
    # Our own picture, asked for whether it can be read.
    ElementTree.fromstring(text)
    return text


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="ndbplan-attack-"))


def asked(name: str, question: Callable[[Plan], str], plan: Plan) -> Finding | None:
    """What is wrong with the answer; None: nothing."""
    begun = time.process_time()
    try:
        answer = question(plan)
        if len(answer) > MOST_BYTES:
            return Finding(name, f"an answer of {len(answer) // 10**6} MB", file.dumps(plan))
        answer.encode("utf-8")
    except UserError as error:
        if len(error.line) > 1000:
            return Finding(name, f"an error of {len(error.line)} letters", file.dumps(plan))
    except Exception as error:  # noqa: BLE001 — whatever else comes is what is looked for
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "/app/ndbplan/" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        return Finding(name, f"{type(error).__name__} at {place}: {str(error)[:80]}", file.dumps(plan))
    spent = time.process_time() - begun
    return Finding(name, f"{spent:.0f} s", file.dumps(plan)) if spent > LONGEST_S else None


def attack(plans: int, seed: int, seconds: float = 1e9, only: str = "") -> Iterator[Finding]:
    """Findings of so many plans."""
    from ndbplan.simulate.kernel.ready import prepare

    if not only:
        # What is compiled only once is no answer's time.
        prepare()
    until, random, asking = time.monotonic() + seconds, Random(seed), questions()
    _COUNTED[0] = 0
    while _COUNTED[0] < plans:
        plan = extreme(random)
        if plan is None:
            continue
        _COUNTED[0] += 1
        # One command asks most of this; what they share is worked out once.
        with keeping():
            for name, question in asking.items():
                if time.monotonic() > until:
                    return
                if only in name and (found := asked(name, question, plan)) is not None:
                    yield found


_COUNTED = [0]


def main() -> int:
    """Try, and print each kind of finding once with the plan that shows it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--plans", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--question", default="", help="only questions whose names hold this")
    parser.add_argument("--keep", type=Path, help="folder for the plans of findings")
    options = parser.parse_args()
    kinds: dict[tuple[str, str], int] = {}
    for found in attack(options.plans, options.seed, options.seconds, options.question):
        key = (found.question, found.what.partition(": ")[0])
        if key not in kinds:
            print(f"{found.question}: {found.what}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{found.question}-{len(kinds)}.ndbplan").write_text(
                    found.plan, encoding="utf-8"
                )
        kinds[key] = kinds.get(key, 0) + 1
    print(f"{sum(kinds.values())} findings of {len(kinds)} kinds in {_COUNTED[0]} plans, seed {options.seed}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
