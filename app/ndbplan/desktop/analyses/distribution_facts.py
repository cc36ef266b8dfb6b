"""Facts about one table's distribution, beside its bars: what moves, how uneven it is and why, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from ndbplan.base.units import format_bytes_binary, format_count, format_percent, unbroken
from ndbplan.desktop.analyses.distribution_answer import Answer
from ndbplan.desktop.analyses.fill_map_picture import signed
from ndbplan.desktop.widgets.explain import QuantityLabel, range_text
from ndbplan.desktop.widgets.sections import empty, label

if TYPE_CHECKING:
    from ndbplan.estimate.storage.fragments import Skew
    from ndbplan.estimate.storage.skew import SkewReport

_TOLD = 5e-5
"""Share from which on a difference is told: less is a row or two."""
_CAUSES = {
    "even": ("none", "The hash map gives each partition as many buckets"),
    "chance": ("chance", "Counted rows differ no more than a hash makes them by chance"),
    "hash map": ("the hash map", "The number of partitions does not divide the buckets of the map"),
    "keys": ("the keys", "Chance would not spread rows so far: some keys of the distribution key are hot"),
    "few values": (
        "few key values",
        "All rows of one value of the distribution key lie together; few values never spread evenly",
    ),
}


class Facts(QVBoxLayout):
    """A column of names and values."""

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(5)

    def show(self, answer: Answer) -> None:
        """Say these instead of what was said."""
        empty(self)
        before, moved = answer.before, answer.moved
        skew = (moved.after if moved else before).skew
        if moved is not None:
            if answer.question.baseline is not None:
                self.addWidget(label("Against the plan before nodes were added", "muted"))
            self._fact("Partitions", f"{before.placement.partitions} → {moved.after.placement.partitions}")
            total = max(1, int(before.rows.sum()))
            share = format_percent(moved.rows_moved / total)
            self._fact("Rows that move", f"{format_count(moved.rows_moved)} ({share})")
            self._fact("Bytes that move", format_bytes_binary(moved.bytes_moved))
            self._state_times(answer)
        else:
            self._fact("Partitions", str(before.placement.partitions))
            self._fact("Rows", format_count(int(before.rows.sum())))
        over = skew.partition_ratio - 1
        text = f"{format_percent(over)} over mean" if over >= _TOLD else "as all others"
        self._fact("Fullest partition", text, "Rows of the fullest partition against the mean")
        if answer.skew is not None:
            self._state_keys(answer.skew)
        if answer.skew is not None:
            self._state_skew(answer.skew, skew)
        self._fact("Hash map", f"{before.buckets} buckets", before.hash_map_name)

    def _state_keys(self, report: SkewReport) -> None:
        """How many values the distribution key has, and what chance may make of the fullest partition."""
        keys, most = report.keys, report.fullest_percent
        if keys is not None and keys.count:
            self._fact("Key values", format_count(keys.count), f"Of the distribution key: {keys.why}")
            if not keys.is_unique:
                self.addWidget(label(keys.why, "muted"))
            if report.cause == "few values" and not report.exact:
                self.addWidget(label("The bars show a typical set of so many values", "muted"))
        if report.exact:
            if report.cause == "few values" and keys is not None and keys.first is not None:
                last = keys.first + keys.count - 1
                self.addWidget(label(f"Rows lie as the hash of {keys.first} … {last} says", "muted"))
            return
        low, high = (format_percent(end / 100) for end in (most.low, most.high))
        self._fact(
            "Fullest may be",
            f"{low} to {high} over" if most.low >= 100 * _TOLD else f"{high} over",
            "In 98 of 100 sets of so many values; which partition it is depends on the values",
        )

    def _state_skew(self, report: SkewReport, skew: Skew) -> None:
        """Why partitions differ, what is hottest, and what the loss of a node makes of it."""
        cause, why = _CAUSES[report.cause]
        if report.probability is not None:
            why += f" (chance alone does it in {format_percent(report.probability)} of cases)"
        self._fact("Skew comes from", cause, why)
        low, high = (signed(end) for end in report.chance)
        self._fact(
            "Partition by chance",
            f"{low} to {high}",
            "What chance makes of one partition against an even share, in 98 of 100 sets of so many values; "
            f"one standard deviation is {format_percent(report.expected_percent / 100)}. The map says the "
            "same of its places: where one holds several partitions, chance moves it less",
        )
        if skew.hottest_log_part is not None:
            node, part = skew.hottest_log_part
            self._fact(
                "Fullest log part",
                f"{format_count(skew.log_part_ratio)} × mean",
                f"Log part {part} of node {node}: rows it stores against the mean of all log parts",
            )
        loss = report.worst_loss
        if loss is not None:
            self._fact(
                "After losing a node",
                f"{format_count(loss.factor)} × on node {loss.loaded_node}",
                f"The worst case: without node {loss.lost_node}, node {loss.loaded_node} is primary for "
                f"{format_count(loss.primary_rows)} rows, {format_count(loss.factor)} times the mean now",
            )

    def _state_times(self, answer: Answer) -> None:
        estimate, of_table = answer.estimate, answer.of_table
        if estimate is None or of_table is None:
            return
        if of_table.moves:
            self._number("Reorganising takes", of_table.duration_s)
            spread = range_text(of_table.duration_s)
            self.addWidget(label(unbroken(f"{spread}; bound by {of_table.bound}"), "muted"))
        if len(estimate.tables) > 1:
            self._number("All tables take", estimate.duration_s)
        self._fact("Pages at the peak", format_bytes_binary(estimate.memory_peak_bytes))
        tight = [peak for peak in estimate.node_peaks if not peak.fits]
        if tight:
            nodes = ", ".join(str(peak.node_id) for peak in tight)
            self.addWidget(label(f"DataMemory is too small on node {nodes}", "fieldError"))
        for note in of_table.notes if of_table.moves else (of_table.bound, *of_table.notes):
            self.addWidget(label(note, "muted"))

    def _fact(self, name: str, text: str, tip: str = "") -> None:
        row = QHBoxLayout()
        row.addWidget(label(name, "muted", wrap=False), 1)
        value = label(text, "factValue", wrap=False)
        value.setToolTip(tip or text)
        row.addWidget(value)
        self.addLayout(row)

    def _number(self, name: str, quantity: Any) -> None:
        row = QHBoxLayout()
        row.addWidget(label(name, "muted", wrap=False), 1)
        row.addWidget(QuantityLabel(name, quantity))
        self.addLayout(row)
