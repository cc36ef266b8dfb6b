"""Which changes are tried for each thing that may limit a load, and what each does, against a kept table.

What they gain takes simulations (`test_remedies.py`). After a change of what is tried, `.venv/bin/python
tests/advise/test_candidates.py` writes the table anew; its difference is what the change means.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from ndbplan.advise import remedies
from ndbplan.advise.max_load import MaxLoad
from ndbplan.base.quantity import Quantity
from ndbplan.edits.changes import value_changes
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.simulate.bottleneck import Bottleneck

TABLE = Path(__file__).parent / "candidates.txt"
TESTS = Path(__file__).parent.parent
PLANS = {
    name: TESTS.parent / "resources" / "samples" / f"{name}.ndbplan"
    for name in ("starter", "redo-overload", "disk-data", "disk-data-8.4")
} | {name: TESTS / "golden" / "plans" / f"{name}.ndbplan" for name in ("single-6.3-ndbd", "uneven-hosts-8.0")}
MOST_CHANGES = 8
RESOURCES = (
    "disk", "redo log", "redo files", "undo log", "tablespace", "memory", "operation records", "cpu",
    "network", "disk reads", "sql nodes", "api nodes",
)  # fmt: skip


def _limited(resource: str, *object_ids: str) -> MaxLoad:
    rate = Quantity.exact(1000.0, "per s")
    return MaxLoad(rate, Bottleneck(resource, "somewhere", 1.0, object_ids), None, 2000.0, 60.0, None, None)


def _told(plan: Plan, candidate: remedies._Candidate) -> Iterator[str]:
    after = candidate.edit(plan)
    marks = {
        "only holds back": candidate.only_holds_back,
        f"one of {candidate.one_of}": bool(candidate.one_of),
        f"{candidate.more_disks} more disks": candidate.more_disks is not None,
    }
    yield f"  {candidate.title}{''.join(f'; {text}' for text, holds in marks.items() if holds)}"
    changes = value_changes(plan, after)
    for change in changes[:MOST_CHANGES]:
        yield f"    {change.scope} {change.name}: {change.before} -> {change.after}"
    arguments = remedies.set_arguments(plan, after, changes)
    yield f"    {len(changes)} changes; set takes {'it not' if arguments is None else len(arguments)}"


def lines() -> Iterator[str]:
    """The table: for each plan the layouts, then what is tried where a resource limits, told once."""
    for name, path in PLANS.items():
        plan = load(path)
        workload = plan.workloads[0]
        yield f"{name}: layouts"
        for candidate in remedies._layouts(plan, workload):
            yield from _told(plan, candidate)
        last_disk = plan.host(plan.data_nodes[-1].host_id).disks[-1].id
        told: set[str] = set()
        with patch.object(remedies, "_layouts", return_value=()):
            for resource, ids in (*((one, ()) for one in RESOURCES), ("disk", (last_disk,))):
                yield f"{name}: {' '.join((resource, *ids))}"
                for candidate in remedies._candidates(plan, workload, _limited(resource, *ids)):
                    told_now = list(_told(plan, candidate))
                    yield from told_now[:1] if told_now[0] in told else told_now
                    told.add(told_now[0])


def test_what_is_tried_is_what_the_table_says() -> None:
    assert list(lines()) == TABLE.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
