"""The status bar: what the plan amounts to, whether the estimates are fresh, the zoom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from ndbplan.base.units import format_bytes_binary, how_many
from ndbplan.configuration.node_groups import groups_by_number
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.desktop.actions import Actions
from ndbplan.desktop.in_front import InFront
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.document.estimates import Estimate, Estimates

_END = 8
"""Pixels around the zoom, at its end."""
_TOLD = 8
"""Overlaps that are named in a tip."""
_SMALL = "QToolButton { padding: 0 4px; min-height: 18px; font-size: 12px; }"


class StatusBar(QWidget):
    """One line at the foot of the window."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        # High enough for a message with a button, which lies on it.
        self.setFixedHeight(30)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, _END, 0)
        row.setSpacing(16)
        self.summary = QLabel()
        self.estimates = QLabel()
        self.estimates.setAccessibleName("State of the estimates")
        self.live = QLabel()
        self.live.setAccessibleName("State of the live cluster")
        self._overlaps: tuple[str, ...] = ()
        self._covered = ""
        self.zoom = QToolButton()
        self.zoom.setProperty("kind", "quiet")
        self.zoom.setAccessibleName("Zoom; press for actual size")
        self.zoom.setFixedWidth(56)
        self.zoom.setStyleSheet(_SMALL)
        self.zoom.setToolTip("Actual size (Ctrl+1)")
        self.zoom.clicked.connect(actions["zoom_normal"].trigger)
        self.apart = QToolButton()
        self.apart.setProperty("kind", "quiet")
        self.apart.setStyleSheet(_SMALL)
        self._actions = actions
        self.apart.clicked.connect(actions["move_apart"].trigger)
        self.show_overlaps(())
        row.addWidget(self.summary)
        row.addStretch(1)
        row.addWidget(self.estimates)
        row.addWidget(self.live)
        # Behind what changes its length by itself: a button must not move from under the pointer.
        row.addWidget(self.apart, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.zoom, 0, Qt.AlignmentFlag.AlignVCenter)

    @property
    def end_px(self) -> int:
        """How much of its end stays free of messages: the zoom, and what is offered as long as it holds."""
        row = self.layout()
        if self.apart.isHidden() or row is None:
            return self.zoom.width() + 2 * _END
        # Laid out now: it may just have come.
        row.activate()
        return self.width() - self.apart.x() + _END

    def show_front(self, front: InFront) -> None:
        """Say what the plan in front amounts to; of that behind a live cluster nothing is said."""
        self.summary.setText(summary(front.plan))
        self.show_zoom(front.zoom)
        self.estimates.setVisible(not front.is_live)
        self.live.setVisible(front.is_live)
        self._covered = front.covered
        self._offer_apart()

    def show_live(self, text: str) -> None:
        """Say how the live cluster is."""
        self.live.setText(text)

    def show_overlaps(self, pairs: Sequence[str]) -> None:
        """Offer to move apart what covers something; `pairs`: what covers what, in words."""
        self._overlaps = tuple(pairs)
        self._offer_apart()

    def _offer_apart(self) -> None:
        pairs = self._overlaps
        self.apart.setText(f"{how_many(len(pairs), 'overlap')} · Move apart")
        self.apart.setToolTip("\n".join((*pairs[:_TOLD], *(("…",) if len(pairs) > _TOLD else ()))))
        why_not = self._covered or ("" if pairs else "Nothing covers anything")
        self.apart.setVisible(not why_not)
        self._actions.able("move_apart", not why_not, why_not)

    def show_zoom(self, zoom: float) -> None:
        """Say how large things are."""
        self.zoom.setText(f"{zoom * 100:.0f} %")

    def watch(self, estimates: Estimates) -> None:
        """Say how fresh the estimates are from now on."""
        estimates.started.connect(lambda: self.estimates.setText("estimating…"))
        estimates.updated.connect(self._show_estimate)

    def _show_estimate(self, estimate: Estimate) -> None:
        if estimate.error:
            self.estimates.setText("not enough to estimate yet")
            self.estimates.setToolTip(estimate.error)
        else:
            self.estimates.setText(f"estimates up to date · {estimate.elapsed_s * 1000:.0f} ms")
            self.estimates.setToolTip("")


def summary(plan: Plan) -> str:
    """`4 data nodes · 2 groups · 2 replicas · 98 GiB DataMemory each`."""
    nodes = len(plan.data_nodes)
    if not nodes:
        hosts = len(plan.hosts)
        return f"{how_many(hosts, 'host')} · no data nodes yet" if hosts else "Empty plan"
    groups, replicas = len(groups_by_number(plan)), no_of_replicas(plan)
    memory = format_bytes_binary(node_settings(plan).number("DataMemory"))
    return " · ".join(
        (
            how_many(nodes, "data node"),
            how_many(groups, "group"),
            how_many(replicas, "replica"),
            f"DataMemory {memory}",
        )
    )
