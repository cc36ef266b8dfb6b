"""Plans that somebody may come to, from a seed: a sample with another load, after a few single changes.

walked_plan(17) gives the same plan in every process. Most of them can be simulated, unlike random plans.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from ndbplan.advise.candidates import single_changes
from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.edits.changes import value_changes
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad

_SAMPLES = (
    "redo-overload", "redo-overload-8.4", "starter", "disk-data", "disk-data-8.4", "add-nodes-8.4",
    "node-restart", "tick-store", "measured-7.4.10",
)  # fmt: skip
_GOLDEN = ("uneven-hosts-8.0", "three-replicas-7.4", "few-keys-and-jobs-8.4", "four-replicas-8.4")
_TRIED = 8


def _begun(name: str) -> Plan:
    if name in _SAMPLES:
        return sample_plan(name)
    return load(Path(__file__).parent / "golden" / "plans" / f"{name}.ndbplan")


def walked_plan(seed: int) -> Plan:
    """The plan of this seed."""
    random = Random(seed)
    plan = _begun(random.choice((*_SAMPLES, *_GOLDEN)))
    times = random.choice((0.1, 0.7, 1, 3, 20))
    for workload in plan.workloads:
        if isinstance(workload.load, OpenLoad):
            points = tuple(
                one.model_copy(update={"rate_per_s": one.rate_per_s * times}) for one in workload.load.points
            )
            load_then = workload.load.model_copy(update={"points": points})
            plan = edits.update(plan, workload.id, load=load_then)
    for _ in range(random.randint(1, 3)):
        plan = stepped(plan, random) or plan
    return plan


def stepped(plan: Plan, random: Random) -> Plan | None:
    """The plan after one of its single changes, drawn; None: none of a few can be made."""
    changes = list(single_changes(plan))
    for change in random.sample(changes, min(_TRIED, len(changes))):
        try:
            after = change.edit(plan)
        except UserError:
            continue
        if value_changes(plan, after):
            return after
    return None
