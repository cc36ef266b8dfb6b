"""How good the numbers are: errors, ranges and skill of what the program says of running clusters.

    make score                        the table, and whether a headline has got worse
    make score ACCEPT="why"           the headlines of today become those to beat

A range is p10 to p90 of a distribution with a logarithm that is normal on either side of the value. Skill is
what is gained on a reference forecaster: 1 is perfect, 0 is no better than the reference.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from reality.judged import error, is_inside
from reality.measured import Measured

HEADLINES = Path(__file__).parent / "headlines.json"
P90 = 1.2816
"""Standard deviations from the middle to an end of a range."""
_INSIDE = 0.8
"""Share of the measurements that p10 to p90 promise."""
_LEAST_RANGE = 1e-3
_ROOM = 0.01
"""How much a headline may get worse before somebody has to accept it."""

Forecaster = Callable[[Measured], Measured]
"""Another answer to the same question."""


def _sides(row: Measured) -> tuple[float, float]:
    """Standard deviations below and above the value, of logarithms."""
    below = math.log(row.value / row.low) if 0 < row.low < row.value else 0.0
    above = math.log(row.high / row.value) if row.high > row.value > 0 else 0.0
    return max(_LEAST_RANGE, below / P90), max(_LEAST_RANGE, above / P90)


def distance(row: Measured) -> float:
    """How many standard deviations the measurement lies above the value."""
    log = math.log(row.measured / row.value)
    return log / _sides(row)[log > 0]


def place(row: Measured) -> float:
    """Where in its distribution the measurement lies, 0 to 1: anywhere alike when ranges keep their word."""
    return 0.5 * (1 + math.erf(distance(row) / math.sqrt(2)))


def interval_score(row: Measured) -> float:
    """Width of the range on the scale of factors, and a penalty where the measurement lies outside it."""
    low, high, measured = (math.log(max(1e-12, one)) for one in (row.low, row.high, row.measured))
    missed = max(0.0, low - measured) + max(0.0, measured - high)
    return high - low + 2 / (1 - _INSIDE) * missed


def crps(row: Measured) -> float:
    """Continuous ranked probability score of the logarithm: a distance that counts ranges too."""
    sigma, z = _sides(row)[row.measured > row.value], distance(row)
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return sigma * (z * (2 * place(row) - 1) + 2 * density - 1 / math.sqrt(math.pi))


def skill(rows: Iterable[Measured], reference: Forecaster) -> float:
    """What the answers gain on those of a reference, by their mean CRPS."""
    own = list(rows)
    worse = sum(crps(reference(row)) for row in own)
    return 1 - sum(crps(row) for row in own) / worse if worse else 0.0


def consistency(count: int, share: float, confidence: float = 0.9) -> tuple[float, float]:
    """Shares that chance allows `count` measurements, each of which is a hit with probability `share`."""
    tail, upto = (1 - confidence) / 2, 0.0
    low = high = None
    for hits in range(count + 1):
        upto += math.comb(count, hits) * share**hits * (1 - share) ** (count - hits)
        if low is None and upto > tail:
            low = hits / count
        if high is None and upto >= 1 - tail:
            high = hits / count
    return low or 0.0, 1.0 if high is None else high


def histogram(rows: Iterable[Measured], bins: int = 5) -> list[int]:
    """Measurements by where they lie in their distributions."""
    counts = [0] * bins
    for row in rows:
        counts[min(bins - 1, int(place(row) * bins))] += 1
    return counts


@dataclass(frozen=True)
class Score:
    """How good the answers of one kind are."""

    count: int
    median_error: float
    worst_error: float
    within_tenth: float
    inside: float
    inside_by_chance: tuple[float, float]
    """What chance allows ranges that keep their word."""
    interval: float
    crps: float
    places: list[int]

    @classmethod
    def of(cls, rows: Sequence[Measured]) -> Score:
        """Of at least one row."""
        errors = [abs(error(row)) for row in rows]
        return cls(
            len(rows),
            median(errors),
            max(errors),
            sum(one <= 0.1 for one in errors) / len(rows),
            sum(map(is_inside, rows)) / len(rows),
            consistency(len(rows), _INSIDE),
            sum(map(interval_score, rows)) / len(rows),
            sum(map(crps, rows)) / len(rows),
            histogram(rows),
        )


def faults(rows: Sequence[Measured], reference: Forecaster | None = None) -> set[str]:
    """What is wrong beyond chance: `too sure`, `too wide`, `too much`, `too little`, `no skill`."""
    found = set()
    distances = [distance(row) for row in rows]
    spread = math.sqrt(sum((z - median(distances)) ** 2 for z in distances) / len(rows))
    room = 2.5 / math.sqrt(2 * len(rows))
    if spread > 1 + 2 * room and sum(map(is_inside, rows)) / len(rows) < consistency(len(rows), _INSIDE)[0]:
        found.add("too sure")
    if spread < 1 / (1 + 2 * room):
        found.add("too wide")
    above = sum(row.value > row.measured for row in rows) / len(rows)
    low, high = consistency(len(rows), 0.5, 0.998)
    if above > high:
        found.add("too much")
    if above < low:
        found.add("too little")
    if reference is not None and skill(rows, reference) < 0.05:
        found.add("no skill")
    return found


def headlines(rows: Sequence[Measured], reference: Forecaster) -> dict[str, float]:
    """Five figures, each better when larger."""
    score = Score.of(rows)
    return {
        "within a tenth": round(score.within_tenth, 3),
        "inside p10 to p90": round(score.inside, 3),
        "one less median error": round(1 - score.median_error, 3),
        "one less mean distance": round(1 - score.crps, 3),
        "skill on bytes over disk rate": round(skill(rows, reference), 3),
    }


def worse(now: dict[str, float], before: dict[str, float]) -> list[str]:
    """Headlines that have got worse."""
    return [
        f"{name}: {now[name]:.3f}, was {value:.3f}"
        for name, value in before.items()
        if now[name] < value - _ROOM
    ]


def accepted() -> dict[str, float]:
    """The headlines to beat: the last that somebody accepted."""
    history = json.loads(HEADLINES.read_text(encoding="utf-8"))["history"]
    figures: dict[str, float] = history[-1]["figures"]
    return figures


def accept(now: dict[str, float], why: str) -> None:
    """Makes these the headlines to beat."""
    document = json.loads(HEADLINES.read_text(encoding="utf-8"))
    document["history"].append({"why": why, "figures": now})
    HEADLINES.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def lines(rows: Sequence[Measured]) -> list[str]:
    """Scores by quantity and era, what was fitted apart from what was not."""
    groups: dict[tuple[str, str, bool], list[Measured]] = {}
    for row in rows:
        groups.setdefault((row.quantity.partition(":")[0], row.era, row.fitted), []).append(row)
    shown = [
        f"{'quantity':20} {'era':7} {'':8} {'n':>3} {'median':>7} {'worst':>7} {'in 10 %':>8} {'inside':>7}"
        f" {'by chance':>11} {'interval':>8} {'crps':>6}  places"
    ]
    for (quantity, era, is_fitted), own in sorted(groups.items()):
        score = Score.of(own)
        low, high = score.inside_by_chance
        shown.append(
            f"{quantity:20} {era:7} {'fitted' if is_fitted else 'left out':8} {score.count:3}"
            f" {score.median_error:7.1%} {score.worst_error:7.1%} {score.within_tenth:8.0%}"
            f" {score.inside:7.0%} {low:5.0%}-{high:4.0%} {score.interval:8.2f} {score.crps:6.3f}"
            f"  {score.places}"
        )
    return shown


def main(arguments: Sequence[str]) -> int:
    """Prints the table; 1 when a headline has got worse and nobody accepts it."""
    from reality.leave_one_out import left_out
    from reality.measured_load import rows as loads
    from reality.measured_times import bytes_over_disk_rate, measured_times, references

    rows = [*measured_times(), *left_out()]
    print("\n".join(lines([*rows, *(row for row in loads() if row.measured > 0)])))
    durations = [row for row in rows if row.unit == "s" and ":" not in row.quantity]
    for name, forecaster in references().items():
        print(f"skill on {name}: {skill(durations, forecaster):.2f}")
    now = headlines(durations, bytes_over_disk_rate)
    for name, value in now.items():
        print(f"{name}: {value:.3f}")
    if arguments:
        accept(now, " ".join(arguments))
        return 0
    lost = worse(now, accepted())
    print("\n".join(f"WORSE {line}" for line in lost) or "no headline has got worse")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
