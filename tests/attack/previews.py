"""A preview of a change is what two fresh runs say, to the digit: a change of each random or walked plan.

    python tests/attack/previews.py --plans 1000 --by-command 20 --seed 7

Some are asked by the command line too, in a process of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from ndbplan.advise.candidates import single_changes
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.preview import HEADLINES, Preview
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import printed
from ndbplan.edits.changes import value_changes
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from random_plans import random_plan
from walked_plans import walked_plan

SHOWN = tuple(name for name in HEADLINES if name not in ("first-error", "max-load"))
"""Figures that take no simulation; the others are looked at of one plan in so many."""
SIMULATED_EVERY = 10
COMMANDS = {
    "restart": (("restart", "--kind", "node"), "duration_s"),
    "cost": (("cost",), "total"),
    "max-load": (("max-load",), "max_per_s"),
}
"""What the command line is asked, and where in its JSON the figure stands."""
COUNTED: Counter[str] = Counter()
"""Figures after a change that were held against a fresh run."""


def fresh(plan: Plan, name: str) -> Quantity | str | None:
    """A figure of a plan that nobody has looked at, with nothing kept; in words where there is none."""
    own = Plan.model_validate_json(plan.model_dump_json())
    try:
        return FIGURES[name].of(Estimation(own, chosen_workload(own)))
    except UserError as error:
        return error.what


def changed(seed: int, plan: Plan) -> tuple[str, Plan] | None:
    """A single change of a plan, drawn, and the plan after it; None: it cannot be made."""
    change = Random(seed).choice(list(single_changes(plan)))
    try:
        after = change.edit(plan)
    except UserError:
        return None
    return (change.title, after) if value_changes(plan, after) else None


def differing(seed: int, by_command: bool = False) -> Iterator[str]:
    """Where the preview of a change of the plan of this seed is not what a fresh run says.

    One plan in three is random, of which few can be simulated, the others are walked.
    """
    plan = (walked_plan if seed % 3 else random_plan)(seed)
    found = changed(seed, plan)
    if found is None:
        return
    title, after = found
    names = HEADLINES if seed % SIMULATED_EVERY < 2 else SHOWN
    preview = Preview(Estimation(plan, chosen_workload(plan)))
    # What was looked at before must not matter.
    list(preview.of(plan.replace(name="another"), names=names))
    for line in preview.of(after, names=names):
        name = line.figure.name
        COUNTED["simulated" if line.figure.simulated and line.after is not None else "others"] += 1
        for told, of in ((line.error or line.after, after), (line.before, plan)):
            run = fresh(of, name)
            if told != run and not (told is None and of is plan and isinstance(run, str)):
                yield f"seed {seed}, {title}: {name} is {run}, the preview says {told}"
        if by_command and name in COMMANDS and line.after is not None:
            told_there = asked(after, name)
            if told_there is not None and told_there != printed(line.after.to_json()):
                yield f"seed {seed}, {title}: the command says {told_there}, the preview {line.after}"


def asked(plan: Plan, name: str) -> dict[str, Any] | None:
    """What the command line prints of a figure; None: it refuses the plan."""
    words, key = COMMANDS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.ndbplan"
        path.write_text(file.dumps(plan), encoding="utf-8")
        command = [sys.executable, "-m", "ndbplan", words[0], str(path), *words[1:], "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    found: dict[str, Any] | None = json.loads(done.stdout)[key]
    return found


def main() -> int:
    """Look at as many plans as named; tell what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=1000)
    parser.add_argument("--by-command", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    every, wrong = max(1, given.plans // max(1, given.by_command)), 0
    for at in range(given.plans):
        by_command = given.by_command > 0 and at % every == 0
        for text in differing(1000 * given.seed + at, by_command):
            wrong += 1
            print(text)
    print(f"{given.plans} previews, {wrong} figures differ from a fresh run; {dict(COUNTED)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
