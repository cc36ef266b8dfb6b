"""The program is killed at random moments; nothing is lost but the edit in progress.

    python tests/attack/kills.py --kills 1000 --seed 7

A process of its own edits, undoes and saves the variants of a plan. It says before each step which plans will
come of it, and then that they have. After `kill -9` the newest ones are looked for in the file and in what
the next start offers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ndbplan.plan.project import Project

MOST_VARIANTS = 4
LONGEST_LIFE_S = 0.6
"""The moment of the kill is drawn between the first edit and so long after it."""


def work(folder: Path, seed: int) -> None:
    """What the process that is killed does."""
    from PySide6.QtCore import QCoreApplication

    from ndbplan.desktop.document.document import Document, PlanEdit
    from ndbplan.desktop.document.recovery import Journal
    from ndbplan.edits import parts as edits
    from ndbplan.edits.variants import removed
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.samples import sample_plan

    application = QCoreApplication([])
    random = Random(seed)
    document = Document(sample_plan("starter").replace(name="0"))
    journal = Journal(document, folder / "journals")
    document.save(folder / "plan.ndbplan")
    before: list[str] = []

    def renamed(name: str) -> PlanEdit:
        cores = random.randrange(1, 64)

        def edit(plan: Plan) -> Plan:
            return edits.update(edits.set_plan(plan, name=name), plan.hosts[0].id, cores=cores)

        return edit

    for number in range(1, 1_000_000):
        now, chosen, names = _state(document.project), random.random(), _names(document.project)
        document.show_variant(random.randrange(len(names)))
        if chosen < 0.1:
            _say("next", now)
            document.save()
        elif chosen < 0.2 and before:
            _say("next", before.pop())
            document.undo_stack.undo()
        elif chosen < 0.3 and len(names) < MOST_VARIANTS:
            before.append(now)
            _say("next", ",".join((*names, str(number))))
            document.edit_as_variant(f"{number}", renamed(str(number)))
        elif chosen < 0.35 and len(names) > 1:
            before.append(now)
            _say("next", ",".join(names[1:]))
            document.edit_variants("Remove", lambda project: removed(project, 0))
        else:
            before.append(now)
            names[document.shown] = str(number)
            _say("next", ",".join(names))
            document.edit("Rename", renamed(str(number)))
        _say("done", _state(document.project))
        application.processEvents()
        # Nothing is waited for: kills shall fall between steps too, not only within one.
        time.sleep(random.choice((0.0, 0.0, 0.001)))
    journal.close()


def _names(project: Project) -> list[str]:
    return [variant.plan.name for variant in project.variants]


def _state(project: Project) -> str:
    return ",".join(_names(project))


def _say(what: str, name: str) -> None:
    os.write(1, f"{what} {name}\n".encode())


def lost(seed: int) -> str:
    """What one kill lost; nothing: an empty text. This process must have no Qt application: it is forked."""
    from ndbplan.desktop.document.recovery import crashed
    from ndbplan.plan import file

    folder = Path(tempfile.mkdtemp(prefix="ndbplan-kill-"))
    try:
        lines = [line.split() for line in _life(folder, seed)]
        left = crashed(folder / "journals")
        if len(left) > 1:
            return f"{len(left)} journals of one document"
        newest = _state(left[0].left.project if left else file.load_project(folder / "plan.ndbplan"))
        done = next((name for what, name in reversed(lines) if what == "done"), "0")
        allowed = {done} if lines[-1][0] == "done" else {done, lines[-1][1]}
        # Behind the last line that was heard the next step may be under way already, but not done.
        if newest in allowed:
            return ""
        return f"after {len(lines)} lines the newest plan is '{newest}' instead of {sorted(allowed)}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _life(folder: Path, seed: int) -> list[str]:
    """What a process that edits says until it is killed at a moment drawn by the seed.

    It is forked from this one, which has loaded everything: a start of its own would take most of the time.
    """
    heard, said = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(heard)
            os.dup2(said, 1)
            work(folder, seed)
        finally:
            # Whatever happens: no second process goes on from here.
            os._exit(1)
    os.close(said)
    with open(heard, "rb") as lines:
        first = lines.readline()
        # The moment of the kill is what is drawn; any moment must be a good one.
        time.sleep(Random(seed).uniform(0, LONGEST_LIFE_S))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        # The line that was cut off is left out.
        return (first + lines.read()).decode().split("\n")[:-1]


def main() -> int:
    """Kill, look, and print what was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    from ndbplan.desktop.document import document, recovery

    # Loaded once for all lives.
    del document, recovery
    until, tried, losses = time.monotonic() + asked.seconds, 0, 0
    for seed in range(asked.seed, asked.seed + asked.kills):
        if time.monotonic() > until:
            break
        tried += 1
        if what := lost(seed):
            losses += 1
            print(json.dumps({"seed": seed, "lost": what}), flush=True)
    print(f"{losses} of {tried} kills lost an edit that was done")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
