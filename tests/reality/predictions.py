"""What the program says to each measured fact, on which plan that anybody can open, and what that proves.

A fact is asked of a sample plan as it is shipped, or after changes that `ndbplan set` and `ndbplan add` make
and the guide's page shows. Kinds:

predicted  no constant of the engine was measured in, or fitted to, what the fact comes from
fitted     one was: agreeing shows that the fit holds together, not that it is right
input      the plan states the number, or a constant is the number: it is met by writing it down

Tolerances are those of the calibration table of the engine model: equality (0), a relative error, or bounds
that stand for a class such as "below 1 %".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Literal

from ndbplan.base.quantity import Quantity, Term
from ndbplan.edits.additions import add
from ndbplan.edits.assign import assign
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from reality import questions as ask
from reality.facts import Fact, facts

Kind = Literal["predicted", "fitted", "input"]
Answer = float | Quantity


@dataclass(frozen=True)
class Prediction:
    """What the program says to one fact."""

    fact: Fact
    kind: Kind
    answer: Answer
    tolerance: float
    """Relative error allowed; 0: equality; -1: the value must lie in the range that was measured."""
    plan: str
    """The sample, and what was set."""

    @property
    def value(self) -> float:
        """The number."""
        return self.answer.value if isinstance(self.answer, Quantity) else self.answer

    @property
    def error(self) -> float:
        """Relative error against the measurement."""
        return self.value / self.fact.value - 1 if self.fact.value else self.value

    @property
    def is_met(self) -> bool:
        """Whether the prediction is within its tolerance."""
        if self.tolerance < 0:
            low = self.fact.value if self.fact.low is None else self.fact.low
            high = self.fact.value if self.fact.high is None else self.fact.high
            return low <= self.value <= high
        return abs(self.value - self.fact.value) <= self.tolerance * abs(self.fact.value) + 1e-9

    @property
    def sources(self) -> frozenset[str]:
        """What the derivation names as sources; empty for exact numbers."""
        return frozenset(_sources(self.answer.why)) if isinstance(self.answer, Quantity) else frozenset()


def _sources(terms: tuple[Term, ...]) -> Iterator[str]:
    for term in terms:
        if term.source:
            yield term.source
        yield from _sources(term.why)


@dataclass(frozen=True)
class Rule:
    """Predicts all facts whose id matches a pattern."""

    pattern: str
    kind: Kind
    tolerance: float
    sample: str
    question: Callable[[Plan, Fact], Answer]
    changes: Callable[[Fact], tuple[str, ...]] = lambda _: ()
    """Arguments for `ndbplan set`, or `add KIND ...`, that the plan needs first."""


@cache
def prepared(sample: str, changes: tuple[str, ...]) -> Plan:
    """A sample after the changes."""
    plan = sample_plan(sample)
    for change in changes:
        if change.startswith("add "):
            _, kind, *words = change.split(" ")
            plan = add(plan, kind, words).plan
        else:
            plan, _ = assign(plan, change)
    return plan


def _rows(fact: Fact) -> tuple[str, ...]:
    """Table t1 of the measured cluster with the rows of a fact."""
    payload = fact.inputs.get("payload_bytes", 100)
    more = tuple(
        f"add index table=test.t1 name=c{i} columns=c"
        for i in range(fact.inputs.get("extra_ordered_indexes", 0))
    )
    return (
        f"tables[test.t1].rows={fact.inputs['rows']}",
        f"tables[test.t1].columns[d].average_bytes={payload}",
        *more,
    )


_WRITES_OF_2010 = (
    "DiskCheckpointSpeed=10M",
    "add calibration device_write_factor value=2.1 source=iostat",
)
"""The article does not say how fast checkpoints were: this is the other reading of its figures."""


def _writes_of_2010(_: Fact) -> tuple[str, ...]:
    return _WRITES_OF_2010


# Rows of a partition are random: four standard deviations of their binomial distribution.
_FOUR_SIGMA_OLD = 4 * sqrt(375_000 / 4) / 187_500

RULES = (
    Rule(r"s000-disk-(write-rate|write-rate-lv|util|bytes-per-tx)", "fitted", 0.10, "redo-overload",
         ask.device, _writes_of_2010),
    Rule(r"s000-tps-blob5k", "fitted", 0.10, "redo-overload", ask.device_ceiling, _writes_of_2010),
    Rule(r"s000-cpu-thread\d", "fitted", 0.30, "redo-overload", ask.thread_cpu),
    Rule(r"s000-comment-410", "fitted", 0.30, "tick-store", ask.first_error),
    Rule(r"s001-(nr|inr)-6gb-.*", "fitted", 0.10, "node-restart", ask.restart_of_2009),
    Rule(r"s001-inr-over-nr", "fitted", 0.10, "node-restart", ask.initial_over_normal),
    Rule(r"s001-speedup-traffic", "fitted", 0.10, "node-restart", ask.speedup_of_7_0_9),
    Rule(r"s002-initial-start", "fitted", 0.10, "disk-data", ask.first_start),
    Rule(r"s002-undo-create", "input", 0.10, "disk-data", ask.create_file),
    Rule(r"s002-datafile-create", "fitted", 0.20, "disk-data", ask.create_file),
    Rule(r"s002-(read-qps|read-disk-util)", "input", 0.10, "disk-data", ask.random_reads),
    Rule(r"s002-disk-miss-iops", "predicted", 0.10, "disk-data", ask.random_reads),
    Rule(r"s003-reorg", "fitted", 0.10, "add-nodes", ask.reorganise_time),
    Rule(r"s003-addnode-script", "fitted", 0.30, "add-nodes", ask.add_node_script),
    Rule(r"s003-fragments-.*", "predicted", 0.0, "add-nodes", ask.fragments),
    Rule(r"s003-before-p\d+-(rows|commits|var)", "input", 0.0, "add-nodes", ask.partition_before),
    Rule(r"s003-before-p\d+-fixed", "predicted", 0.0, "add-nodes", ask.partition_before),
    Rule(r"s003-after-p\d+-rows", "predicted", _FOUR_SIGMA_OLD, "add-nodes", ask.partition_after),
    Rule(r"s003-after-p\d+-commits", "predicted", 0.0025, "add-nodes", ask.partition_after),
    Rule(r"s003-after-p[0-7]-fixed", "predicted", 0.0, "add-nodes", ask.partition_after),
    Rule(r"s003-after-p\d+-fixed", "predicted", 0.005, "add-nodes", ask.partition_after),
    Rule(r"s003-after-p[0-7]-var", "input", 0.0025, "add-nodes", ask.partition_after),
    Rule(r"s003-after-p\d+-var", "predicted", 0.005, "add-nodes", ask.partition_after),
    Rule(r"s003-moved-rows", "predicted", 0.0025, "add-nodes", ask.rows_moved),
    Rule(r"s003-mem-before", "input", 0.0, "add-nodes", ask.whole_memory),
    Rule(r"s003-mem-after", "predicted", 0.0, "add-nodes", ask.whole_memory),
    Rule(r"s004-(touch-memory|early-phases|restore|index-rebuild|copy-fragment|wait-.*)", "fitted", 0.05,
         "terabyte-load", ask.restart_phase),
    Rule(r"s004-redo-apply", "predicted", -1, "terabyte-load", ask.restart_phase),
    Rule(r"s004-total(-24ldm(-saving)?)?", "fitted", 0.10, "terabyte-load", ask.restart_total),
    Rule(r"s004-redo-per-ldm", "input", 0.0, "terabyte-load", ask.log_per_part),
    Rule(r"c740-redo-.*", "predicted", 0.0, "measured-7.4.10", ask.redo_bytes),
    Rule(r"c740-lcp-row", "fitted", 0.0015, "measured-7.4.10", ask.checkpoint_row),
    Rule(r"c740-lcp-wait", "fitted", -1, "measured-7.4.10", ask.checkpoint_wait, _rows),
    Rule(r"c740-node-restart", "fitted", 0.30, "measured-7.4.10", ask.node_restart, _rows),
    Rule(r"c740-reorg-empty", "fitted", -1, "measured-7.4.10", ask.reorganise_t1, _rows),
    Rule(r"c740-reorg-\d+k.*", "fitted", 0.10, "measured-7.4.10", ask.reorganise_t1, _rows),
    Rule(r"c740-410", "input", 0.0, "measured-7.4.10", ask.constant("redo_log_reserve_bytes")),
    Rule(r"c740-create-nodegroup", "input", 0.0, "measured-7.4.10", ask.constant("create_nodegroup_s")),
)  # fmt: skip

SILENT = {
    r"s000-tps-blob1k": "limited by the clients' latency, which is an input",
    r"s000-disk-(iops|queue|await)": "how the device merges requests is not modelled",
    r"s000-redobuf-.*": "moments of a run: the simulation's tests say idle or overloaded",
    r"s001-speedup-best": "the best case that others reported, for unknown loads",
    r"s001-max-traffic": "limited by the test client, an input",
    r"s002-insert-.*": "limited by the latency of one client, an input",
    r"s002-read-latency": "twenty clients over the reads a second: no fact of its own",
    r"s002-undo-(free-extents|used)": "depends on the moment of the last checkpoint",
    r"s002-max-open-datafiles": "a rule, kept by the checks",
    r"s004-load-rate-(low|high)": "limited by the disk that the files were read from, an input",
    r"c740-lcp-\d+M": "the bytes were worked out from the same seconds: no fact of its own",
}
"""Facts without a prediction, by pattern, and why."""

_KEYS = "within 0.01 %: which rows move is the keys' doing, and one old partition gave a page back"

NOT_MET = {
    "s003-mem-after": _KEYS,
}
"""Facts whose prediction is outside its tolerance, and why."""


def rule_of(fact: Fact) -> Rule | None:
    """The rule that predicts a fact."""
    return next((rule for rule in RULES if re.fullmatch(rule.pattern, fact.id)), None)


def silence_of(fact: Fact) -> str | None:
    """Why nothing is predicted for a fact."""
    return next((why for pattern, why in SILENT.items() if re.fullmatch(pattern, fact.id)), None)


@cache
def prediction(fact_id: str) -> Prediction | None:
    """What the program says to a fact; None when no rule covers it."""
    fact = facts()[fact_id]
    rule = rule_of(fact)
    if rule is None:
        return None
    changes = rule.changes(fact)
    plan = prepared(rule.sample, changes)
    shown = " · ".join((rule.sample, *changes))
    return Prediction(fact, rule.kind, rule.question(plan, fact), rule.tolerance, shown)
