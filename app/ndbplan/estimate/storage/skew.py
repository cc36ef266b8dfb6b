"""How unevenly one table lies, why, and what the loss of a node makes of it.

    report = skew_report(distribute(plan, table))
    report.cause, report.nodes[0].fill_percent, report.worst_loss

Rows of nodes and LDMs are those they are primary for and those they store; "fill" compares with the mean.

Source: arithmetic; chi-square after Wilson and Hilferty.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt
from typing import TYPE_CHECKING, Any, Literal

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.estimate.storage.fragments import TableDistribution, map_facts
from ndbplan.estimate.storage.key_values import KeyValues
from ndbplan.estimate.storage.lost_primaries import NOBODY, primaries_without
from ndbplan.estimate.storage.spread import band, fullest

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CHANCE_LIMIT = 1e-3
"""Counts that chance alone would spread so far less often than this are not chance."""

Cause = Literal["even", "chance", "hash map", "keys", "few values"]


@dataclass(frozen=True, slots=True)
class Share(Shape):
    """What one partition, LDM, log part, node or node group holds of a table."""

    JSON = "name rows primary_rows bytes=size_bytes fill_percent"

    name: str
    rows: int
    """Rows stored there, replicas counted."""
    primary_rows: int
    """Rows of the primary replicas there."""
    size_bytes: int
    """Fixed and variable pages of the rows stored."""
    fill_percent: float
    """Stored rows against the mean of its kind: 0 is the mean, +10 a tenth more."""


@dataclass(frozen=True, slots=True)
class NodeLoss(Shape):
    """The load of the most loaded survivor when one node is lost and its primaries move."""

    JSON = "lost_node loaded_node primary_rows factor"

    lost_node: int
    loaded_node: int
    primary_rows: int
    factor: float
    """Its primary rows against the mean of all nodes before."""


@dataclass(frozen=True)
class SkewReport(Shape):
    """Skew of one table."""

    JSON = (
        "table cause probability expected_percent structural_percent fullest_percent key_values=keys "
        "exact worst_loss partitions ldms log_parts nodes node_groups"
    )

    table: str
    partitions: tuple[Share, ...]
    ldms: tuple[Share, ...]
    log_parts: tuple[Share, ...]
    nodes: tuple[Share, ...]
    node_groups: tuple[Share, ...]
    cause: Cause
    """Why partitions differ: not at all, by chance, by uneven buckets of the map, by keys that are hot, or
    because the distribution key has fewer values than the table rows."""
    probability: float | None
    """How often chance alone spreads counts so far; None when the counts are expected, not measured."""
    expected_percent: float
    """Spread of a partition by chance: one standard deviation."""
    chance: tuple[float, float]
    """The same as a band: what a partition holds against an even share in 98 of 100 sets of values."""
    structural_percent: float
    """How far the fullest partition is above the mean by the map's buckets alone."""
    worst_loss: NodeLoss | None
    fullest_percent: Quantity
    """How far the fullest partition is above the mean; a range where the values are not known."""
    keys: KeyValues | None
    """Values of the distribution key."""
    exact: bool
    """Rows lie as counted, or as the hash of the known values says."""


def skew_report(distribution: TableDistribution, *, measured: bool = False) -> SkewReport:
    """Skew of a table; `measured`: its rows per partition were counted (keys or ndb_desc), not expected."""
    import numpy as np

    placed, rows = distribution.placement, distribution.rows
    size = distribution.fixed_bytes + distribution.variable_bytes
    replicas = placed.nodes.shape[1]
    stored = np.repeat(rows, replicas)
    primary = np.zeros((len(rows), replicas), dtype=np.int64)
    primary[:, 0] = rows
    sizes, nodes = np.repeat(size, replicas), placed.nodes.ravel()

    def shares(keys: Array, names: dict[int, str]) -> tuple[Share, ...]:
        counts = np.bincount(keys, weights=stored, minlength=max(names) + 1)
        firsts = np.bincount(keys, weights=primary.ravel(), minlength=max(names) + 1)
        volumes = np.bincount(keys, weights=sizes, minlength=max(names) + 1)
        mean = counts.sum() / len(names)
        return tuple(
            Share(
                name,
                int(counts[key]),
                int(firsts[key]),
                int(volumes[key]),
                float(counts[key] / mean * 100 - 100) if mean else 0.0,
            )
            for key, name in names.items()
        )

    fragments = np.repeat(np.arange(len(rows)), replicas)
    members = sorted({int(node) for node in nodes})
    most_ldm = int(placed.ldm.max(initial=1))
    ldm_names = {
        node * 1024 + ldm: f"node {node} LDM {ldm}" for node in members for ldm in range(1, most_ldm + 1)
    }
    part_names = {
        node * 1024 + part: f"node {node} log part {part}"
        for node in members
        for part in range(distribution.log_parts)
    }
    cause, probability, expected, structural = _why(distribution, measured)
    return SkewReport(
        table=distribution.table,
        partitions=shares(
            fragments, {f: f"partition {f % max(1, placed.partitions)}" for f in range(len(rows))}
        ),
        ldms=shares(nodes * 1024 + placed.ldm.ravel(), ldm_names),
        log_parts=shares(nodes * 1024 + np.repeat(placed.log_part, replicas), part_names),
        nodes=shares(nodes, {node: f"node {node}" for node in members}),
        node_groups=shares(
            np.repeat(placed.node_group, replicas),
            {i: f"node group {group}" for i, group in enumerate(distribution.group_ids)},
        ),
        cause=cause,
        probability=probability,
        expected_percent=expected,
        chance=_by_chance(distribution),
        structural_percent=structural,
        worst_loss=_worst_loss(distribution, members),
        fullest_percent=fullest_percent(distribution),
        keys=distribution.keys,
        exact=measured or distribution.exact_keys,
    )


def _by_chance(distribution: TableDistribution) -> tuple[float, float]:
    partitions = len(map_facts(distribution.hash_map).counts)
    if distribution.is_full_copy or partitions < 2 or not distribution.values:
        return 0.0, 0.0
    return band(distribution.values, 1 / partitions)


def fullest_percent(distribution: TableDistribution) -> Quantity:
    """How far the fullest partition is above the mean; a range where chance decides. Source: `spread`."""
    counts = map_facts(distribution.hash_map).counts
    rows = distribution.rows[: len(counts)]
    total = int(rows.sum())
    held = rows / total if total else distribution.weights
    value = 100 * (float(held.max()) * len(counts) - 1) if held is not None else 0.0
    value = max(value, 0.0)
    keys = distribution.keys
    why = [Term("partitions", len(counts), "", "distribution")]
    if keys is not None and keys.count:
        why.append(Term(f"values of the distribution key: {keys.why}", keys.count, "", "plan"))
    if not (distribution.is_by_chance and distribution.values):
        return Quantity.exact(value, "%", tuple(why))
    band = fullest(distribution.values, counts / counts.sum())
    low, high = (100 * (share * len(counts) - 1) for share in (band.low, band.high))
    return Quantity.spanning(value, (max(0.0, low), high), "%", why)


def _why(distribution: TableDistribution, measured: bool) -> tuple[Cause, float | None, float, float]:
    buckets = map_facts(distribution.hash_map).counts
    partitions = len(buckets)
    rows = distribution.rows[:partitions].astype(float)
    total = float(rows.sum())
    structural = float(buckets.max() / buckets.mean() * 100 - 100)
    values = distribution.values
    expected = 100 * sqrt((partitions - 1) / values) if values and not distribution.is_full_copy else 0.0
    uneven_map = structural > 0
    if not measured or not total or partitions < 2:
        if distribution.weights is not None:
            return "few values", None, expected, structural
        return ("hash map" if uneven_map else "even"), None, expected, structural
    wanted = buckets / buckets.sum() * total
    # Rows of one value lie together: what is spread by chance are the values.
    statistic = float(((rows - wanted) ** 2 / wanted).sum()) * values / total
    probability = chi_square_tail(statistic, partitions - 1)
    if probability < CHANCE_LIMIT:
        return "keys", probability, expected, structural
    by_chance: Cause = "few values" if values < total else "chance"
    cause = "hash map" if structural > 3 * expected else by_chance
    return cause, probability, expected, structural


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Probability that chance alone gives this chi-square or more (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * degrees)
    normal = ((statistic / degrees) ** (1 / 3) - (1 - spread)) / sqrt(spread)
    return 0.5 * erfc(normal / sqrt(2))


def _worst_loss(distribution: TableDistribution, members: list[int]) -> NodeLoss | None:
    import numpy as np

    placed, rows = distribution.placement, distribution.rows
    if placed.nodes.shape[1] < 2 or not rows.sum():
        return None
    before = np.bincount(placed.primary, weights=rows, minlength=256)
    mean = before.sum() / len(members)
    worst: NodeLoss | None = None
    for node in members:
        moved = placed.primary == node
        heirs = primaries_without(placed, {node})[moved]
        after = before + np.bincount(heirs, weights=rows[moved], minlength=256)
        after[node] = after[NOBODY] = 0
        loaded = int(after.argmax())
        if worst is None or after[loaded] > worst.primary_rows:
            worst = NodeLoss(node, loaded, int(after[loaded]), float(after[loaded] / mean))
    return worst


def distribution_json(distribution: TableDistribution) -> dict[str, Any]:
    """The shape of one entry of `tables` that `ndbplan distribute` prints; the numbers are exact."""
    report = skew_report(distribution, measured=distribution.measured).to_json()
    del report["table"]
    fills = [share["fill_percent"] for share in report.pop("partitions")]
    return {
        "table": distribution.table,
        "hash_map": {"name": distribution.hash_map_name, "buckets": distribution.buckets},
        "partitions": [
            {**partition.to_json(), "fill_percent": fill}
            for partition, fill in zip(distribution.partitions, fills, strict=True)
        ],
        "skew": {**distribution.skew.to_json(), **report},
    }


def skew_in_short(distribution: TableDistribution) -> dict[str, Any]:
    """The same without what lies on each LDM, log part and node: of each partition nodes and rows."""
    cause, _, expected, structural = _why(distribution, distribution.measured)
    members = sorted({int(node) for node in distribution.placement.nodes.ravel()})
    loss = _worst_loss(distribution, members)
    return {
        "table": distribution.table,
        "hash_map": {"name": distribution.hash_map_name, "buckets": distribution.buckets},
        "partitions": [
            {"node_group": one.node_group, "nodes": list(one.nodes), "rows": one.rows}
            for one in distribution.partitions
        ],
        "skew": {
            **distribution.skew.to_json(),
            "cause": cause,
            "expected_percent": expected,
            "structural_percent": structural,
            "fullest_percent": fullest_percent(distribution).to_json(),
            "worst_loss": None if loss is None else loss.to_json(),
        },
    }
