"""An answer about one table as bars and as rows of the table beside them."""

from __future__ import annotations

from ndbplan.base.units import format_count, format_memory
from ndbplan.desktop.analyses.distribution_answer import Answer
from ndbplan.desktop.analyses.partition_bars import Bar, Picture
from ndbplan.desktop.widgets import numbers

HEADERS = ("Part.", "Group", "Nodes", "Rows", "Bytes", "LDM")
_HEADERS_MOVED = ("Part.", "Group", "Nodes", "Rows", "After", "Moves", "LDM")
_MOST_ROWS = 2000


def bars_of(answer: Answer, unit: str) -> Picture:
    """Bars of every partition, before and after; `unit`: rows or bytes."""
    before, moved = answer.before, answer.moved
    after = moved.after if moved is not None else before
    old = {p.fragment: p for p in before.partitions}
    kept = {p.partition: p.fixed_bytes + p.variable_bytes for p in moved.partitions} if moved else {}
    bars = []
    for p in after.partitions:
        was = old.get(p.fragment)
        if unit == "bytes":
            now: float = kept.get(p.fragment, p.fixed_bytes + p.variable_bytes)
            then: float = was.fixed_bytes + was.variable_bytes if was else 0
        else:
            now, then = p.rows, was.rows if was else 0
        nodes = ", ".join(str(n) for n in p.nodes)
        where = f"Node group {p.node_group} · primary on {p.primary} · nodes {nodes} · LDM {p.ldm}"
        bars.append(Bar(p.fragment, p.node_group, then, now, where))
    members: dict[int, set[int]] = {}
    for p in after.partitions:
        members.setdefault(p.node_group, set()).update(p.nodes)
    groups = {
        number: f"Node group {number} · nodes {', '.join(str(n) for n in sorted(nodes))}"
        for number, nodes in members.items()
    }
    bars.sort(key=lambda bar: (bar.node_group, bar.partition))
    return Picture(tuple(bars), moved.moved_rows if moved else None, unit, groups)


def rows_of(answer: Answer) -> tuple[list[list[numbers.Cell]], tuple[str, ...]]:
    """Rows of the table of partitions, and its headers."""
    before, moved = answer.before, answer.moved
    after = moved.after if moved is not None else before
    old = {p.fragment: p for p in before.partitions}
    targets: dict[int, list[str]] = {}
    for (source, target), rows in (moved.moved_rows if moved else {}).items():
        targets.setdefault(source, []).append(f"{format_count(rows)} to {target}")
        targets.setdefault(target, []).append(f"{format_count(rows)} from {source}")
    lines = []
    for p in after.partitions[:_MOST_ROWS]:
        was = old[p.fragment].rows if p.fragment in old else 0
        cells = [
            numbers.count(p.fragment),
            numbers.count(p.node_group),
            numbers.text(", ".join(str(n) for n in p.nodes)),
            numbers.count(was),
        ]
        if moved is not None:
            cells += [numbers.count(p.rows), numbers.text(", ".join(targets.get(p.fragment, ["–"])))]
        else:
            cells.append(numbers.size(p.fixed_bytes + p.variable_bytes, format_memory))
        cells.append(numbers.count(p.ldm))
        lines.append(cells)
    return lines, HEADERS if moved is None else _HEADERS_MOVED
