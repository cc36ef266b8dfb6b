"""What the engine predicts for each fact, how far off it may be, and which facts it says nothing to.

Tolerances are those of the calibration table of the engine model: equality (0), a relative error, or bounds
that stand for a class such as "below 1 %".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt

from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.distribution import distribute, redistribute
from ndbplan.estimate.memory import memory
from ndbplan.estimate.redo import log_bytes_per_part
from ndbplan.estimate.reorganise import grow, reorganise
from ndbplan.estimate.rows import row_layout
from ndbplan.ndb.rowformat import PAGE_BYTES
from ndbplan.plan.plan import EMPTY_PLAN
from reality import cluster, published
from reality.facts import Fact, facts


@dataclass(frozen=True)
class Prediction:
    """What the engine says to one fact."""

    fact: Fact
    value: float
    tolerance: float
    """Relative error allowed; 0: equality; -1: the value must lie in the range that was measured."""

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


Predictor = Callable[[Fact], float]


@dataclass(frozen=True)
class Rule:
    """Predicts all facts whose id matches a pattern."""

    pattern: str
    tolerance: float
    predict: Predictor


def _after(fact: Fact) -> tuple[int, str]:
    match = re.fullmatch(r"s003-(?:before|after)-p(\d+)-(\w+)", fact.id)
    assert match is not None
    return int(match[1]), match[2]


@cache
def _pairs() -> dict[int, int]:
    """Old partition that feeds each new one, as the engine says."""
    plan = published.sample("add-nodes")
    change = redistribute(plan, grow(plan, 1), "t1")
    return {new: old for old, new in change.moved_rows}


def _rows_before(fact: Fact) -> float:
    plan = published.sample("add-nodes")
    even = plan.replace(tables=(published.without_counts(plan.tables[0]),))
    return float(distribute(even, even.tables[0]).rows[_after(fact)[0]])


def _rows_after(fact: Fact) -> float:
    """Rows left in an old partition: what it had less what its new one has; in a new one: half of that."""
    partition, _ = _after(fact)
    if partition in _pairs():
        return facts()[f"s003-before-p{_pairs()[partition]}-rows"].value / 2
    new = next(n for n, old in _pairs().items() if old == partition)
    return facts()[f"s003-before-p{partition}-rows"].value - facts()[f"s003-after-p{new}-rows"].value


def _commits_after(fact: Fact) -> float:
    partition, _ = _after(fact)
    if partition in _pairs():
        return facts()[f"s003-after-p{partition}-rows"].value
    new = next(n for n, old in _pairs().items() if old == partition)
    moved = facts()[f"s003-after-p{new}-rows"].value
    return facts()[f"s003-before-p{partition}-commits"].value + 2 * moved


def _pages(fact: Fact) -> float:
    """Bytes of pages for the rows that were counted; an old partition keeps what it had before."""
    plan = published.sample("add-nodes")
    layout = row_layout(plan.tables[0], plan.version)
    partition, kind = _after(fact)
    when = "after" if "after" in fact.id and partition in _pairs() else "before"
    rows = int(facts()[f"s003-{when}-p{partition}-rows"].value)
    pages = layout.fixed_pages(rows) if kind == "fixed" else layout.variable_pages(rows)
    return float(pages * PAGE_BYTES)


def _whole_memory(fact: Fact) -> float:
    """All pages of one replica, from the pages counted before, as the plan states them."""
    plan = published.sample("add-nodes")
    if fact.id == "s003-mem-before":
        table = memory(plan).tables[0]
        return table.fixed_bytes + table.variable_bytes.value
    return float(reorganise(plan).memory_peak_bytes)


def _fragments(fact: Fact) -> float:
    plan = published.sample("add-nodes")
    change = redistribute(plan, grow(plan, 1), "t1")
    return float((change.before if fact.id.endswith("before") else change.after).placement.fragments)


# Rows of a partition are random: four standard deviations of their binomial distribution.
_FOUR_SIGMA_BEFORE = 4 * sqrt(3_000_000 / 8 * 7 / 8) / 375_000
_FOUR_SIGMA_NEW = 4 * sqrt(375_000 / 4) / 187_500

RULES = (
    Rule(r"s000-disk-(write-rate|write-rate-lv|util|bytes-per-tx)", 0.10, published.redo_overload),
    Rule(r"s000-tps-blob5k", 0.10, published.redo_overload),
    Rule(r"s000-cpu-thread\d", 0.30, published.thread_cpu),
    Rule(r"s000-comment-410", 0.30, published.time_to_410),
    Rule(r"s001-(nr|inr)-.*", 0.10, published.restart_2009),
    Rule(r"s001-speedup-traffic", 0.10, published.restart_2009),
    Rule(r"s002-(initial-start|undo-create)", 0.10, published.disk_data_times),
    Rule(r"s002-datafile-create", 0.20, published.disk_data_times),
    Rule(r"s002-(read-qps|read-disk-util|read-latency|disk-miss-iops)", 0.10, published.random_reads),
    Rule(r"s003-reorg", 0.10, lambda _: reorganise(published.sample("add-nodes")).duration_s.value),
    Rule(r"s003-addnode-script", 0.30, published.add_node_script),
    Rule(r"s003-fragments-.*", 0.0, _fragments),
    Rule(r"s003-before-p\d+-rows", _FOUR_SIGMA_BEFORE, _rows_before),
    Rule(r"s003-before-p\d+-commits", 0.0, lambda f: facts()[f.id.replace("commits", "rows")].value),
    Rule(r"s003-after-p[0-7]-rows", 0.0, _rows_after),
    Rule(r"s003-after-p\d+-rows", _FOUR_SIGMA_NEW, _rows_after),
    Rule(r"s003-after-p\d+-commits", 0.0, _commits_after),
    Rule(r"s003-(before|after)-p\d+-fixed", 0.0, _pages),
    Rule(r"s003-(before|after)-p\d+-var", 0.005, _pages),
    Rule(
        r"s003-moved-rows",
        0.0025,
        lambda _: float(reorganise(published.sample("add-nodes")).tables[0].rows_moved),
    ),
    Rule(r"s003-mem-(before|after)", 0.0, _whole_memory),
    Rule(
        r"s004-(touch-memory|early-phases|restore|index-rebuild|copy-fragment|wait-.*)",
        0.05,
        published.terabyte,
    ),
    Rule(r"s004-redo-apply", -1, published.terabyte),
    Rule(r"s004-total", 0.02, published.terabyte),
    Rule(r"s004-total-24ldm(-saving)?", 0.10, published.terabyte),
    Rule(r"s004-load-rate-(low|high)", -1, published.load_rate),
    Rule(
        r"s004-redo-per-ldm",
        0.0,
        lambda _: log_bytes_per_part(published.sample("terabyte-load"), None) / 2**20,
    ),
    Rule(r"c740-redo-.*", 0.0, cluster.redo_bytes),
    Rule(r"c740-lcp-row", 0.0015, cluster.checkpoint_row),
    Rule(r"c740-lcp-\d+M", 0.05, cluster.checkpoint_seconds),
    Rule(r"c740-lcp-wait", -1, cluster.checkpoint_wait),
    Rule(r"c740-node-restart", 0.30, cluster.node_restart),
    Rule(r"c740-reorg-empty", -1, cluster.reorganise_seconds),
    Rule(r"c740-reorg-\d+k.*", 0.10, cluster.reorganise_seconds),
    Rule(r"c740-410", 0.0, lambda _: constant_for(EMPTY_PLAN, "redo_log_reserve_bytes").value),
    Rule(r"c740-create-nodegroup", 0.0, lambda _: constant_for(EMPTY_PLAN, "create_nodegroup_s").value),
)

SILENT = {
    r"s000-tps-blob1k": "limited by the clients' latency, which is an input",
    r"s000-disk-(iops|queue|await)": "how the device merges requests is not modelled",
    r"s000-redobuf-.*": "moments of a run: the simulation's tests say idle or overloaded",
    r"s001-speedup-best": "the best case that others reported, for unknown loads",
    r"s001-max-traffic": "limited by the test client, an input",
    r"s002-insert-.*": "limited by the latency of one client, an input",
    r"s002-undo-(free-extents|used)": "depends on the moment of the last checkpoint",
    r"s002-max-open-datafiles": "a rule, kept by the checks",
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
    """What the engine says to a fact; None when no rule covers it."""
    fact = facts()[fact_id]
    rule = rule_of(fact)
    return None if rule is None else Prediction(fact, rule.predict(fact), rule.tolerance)
