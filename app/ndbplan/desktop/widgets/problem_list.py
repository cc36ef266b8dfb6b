"""Problems that concern what is selected: a click goes there, a fix is one undoable edit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QInputDialog,
    QMenu,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.checks.alike import single
from ndbplan.describe.titles import display_name
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import sentence
from ndbplan.desktop.widgets.preview_card import preview_on
from ndbplan.desktop.widgets.sections import empty, label, link
from ndbplan.edits import waivers
from ndbplan.edits.changes import value_changes
from ndbplan.plan.places import inside
from ndbplan.plan.plan import Plan, Waiver

if TYPE_CHECKING:
    from ndbplan.checks.problem import Edit, Problem, Solution

SEVERITIES = {"error": "error", "warning": "warning", "hint": "info"}
"""Token of the colour of each severity."""
_MOST = 8
_MOST_CHANGES = 12
_NODES = re.compile(r"(?:data|management|SQL|API) (?:nodes?|slot) ([0-9]+)")
"""Places that are nodes by their ids; what holds for all of a kind needs no place."""
_PADDING, _BESIDE = 28, 40
"""Of a button beside its text, and of a row beside its buttons."""


class Dot(QWidget):
    """A round mark in the colour of a severity."""

    def __init__(self, severity: str) -> None:
        super().__init__()
        self._severity = severity
        self.setFixedSize(QSize(10, 17))
        self.setToolTip(severity)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(theme.tokens(), SEVERITIES.get(self._severity, "muted"))))
        painter.drawEllipse(QPointF(4, 9), 3.5, 3.5)


class WayButton(QPushButton):
    """A way out of a problem; where there is little room, in two lines."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.title = title
        self.setProperty("look", "solution")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().minimumSizeHint().height())

    def fit(self, width: int) -> None:
        """Break the title where it is wider than there is room for, and cut a name that is wider alone."""
        needed = self.fontMetrics().horizontalAdvance(self.title) + _PADDING
        halves = [i for i, c in enumerate(self.title) if c == " "] if needed > width else []
        at = min(halves, key=lambda i: abs(i - len(self.title) / 2), default=0)
        lines = (self.title[:at], self.title[at + 1 :]) if at else (self.title,)
        room, middle = width - _PADDING, Qt.TextElideMode.ElideMiddle
        text = "\n".join(self.fontMetrics().elidedText(line, middle, room) for line in lines)
        self.setToolTip(self.title if "…" in text else "")
        if text != self.text():
            self.setText(text)


class ProblemRow(QWidget):
    """One problem. Click or Enter selects what it concerns; Fix applies its remedy."""

    def __init__(self, context: Context, problem: Problem) -> None:
        super().__init__()
        self._context, self._problem = context, problem
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("look", "problemRow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(f"{problem.severity}: {problem.message}")
        self.setToolTip(f"{problem.where}\nRule {problem.rule}".strip())
        if problem.object_ids:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        plan = context.plan
        names = [display_name(plan, plan.by_id[i]) for i in problem.object_ids if i in plan.by_id]
        self._text = label(sentence(_with_place(problem, plan), names), "problemText")
        self._error = label("", "fieldError")
        self._error.hide()
        texts = QVBoxLayout()
        texts.setContentsMargins(0, 0, 0, 0)
        texts.setSpacing(2)
        texts.addWidget(self._text)
        self.ways = [self._way(number, way) for number, way in enumerate(problem.solutions)]
        """One button for each way out, the recommended one first."""
        if not self.ways:
            for line in _words_without_buttons(problem):
                texts.addWidget(label(line, "muted"))
        for button, way in zip(self.ways, problem.solutions, strict=True):
            # Nearer to its own words than to those of the way above it.
            texts.addSpacing(4)
            texts.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            first = button is self.ways[0] and len(self.ways) > 1
            texts.addWidget(label(f"Recommended: {way.why}" if first else sentence(way.why), "muted"))
        texts.addWidget(self._error)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 4, 4, 8)
        row.setSpacing(8)
        row.addWidget(Dot(problem.severity), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(texts, 1)
        if problem.edit is not None:
            self._fix_link = link("Fix", self.fix, f"Fix: {problem.fix or problem.message}")
            self._fix_link.setToolTip(problem.fix or "")
            previews = self._context.estimates.previews
            preview_on(self._fix_link, previews, problem.fix or "Fix", problem.edit)
            row.addWidget(self._fix_link, 0, Qt.AlignmentFlag.AlignTop)

    def _way(self, number: int, way: Solution) -> WayButton:
        button = WayButton(way.title)
        if number == 0:
            button.setProperty("kind", "primary")
        button.setAccessibleName(f"{way.title}: {way.why}")
        button.clicked.connect(lambda: self._do(way.title, way.edit))
        preview_on(button, self._context.estimates.previews, way.title, way.edit)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        for button in self.ways:
            button.fit(self.width() - _BESIDE)
        super().resizeEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.tell_what_fix_changes()
        super().enterEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.tell_what_fix_changes()
        super().focusInEvent(event)

    def tell_what_fix_changes(self) -> tuple[str, ...]:
        """The values that Fix would change, one in a line; also shown beside the link from now on."""
        problem = self._problem
        for button, way in zip(self.ways, problem.solutions, strict=True):
            self._tell_changes(button, way.edit)
        return () if problem.edit is None else self._tell_changes(self._fix_link, problem.edit)

    def _tell_changes(self, button: QPushButton, edit: Edit) -> tuple[str, ...]:
        plan = self._context.plan
        try:
            lines = tuple(change.line for change in value_changes(plan, edit(plan)))
        except (UserError, KeyError):
            # The plan has moved on; a new row is on its way.
            return ()
        shown = lines if len(lines) <= _MOST_CHANGES else (*lines[:_MOST_CHANGES], "…")
        button.setToolTip("\n".join(shown))
        button.setAccessibleDescription("; ".join(shown))
        return lines

    def fix(self) -> None:
        """Apply the remedy as one undoable edit."""
        problem = self._problem
        if problem.edit is not None:
            self._do(f"Fix: {problem.fix or problem.rule}", problem.edit)

    def _do(self, text: str, edit: Edit) -> None:
        try:
            self._context.document.edit(text, edit)
        except UserError as error:
            self._error.setText(error.line)
            self._error.show()

    def select(self) -> None:
        """Select what the problem concerns."""
        known = self._context.plan.by_id
        ids = [i for i in self._problem.object_ids if i in known]
        if ids:
            self._context.selection.set(ids)

    def accept(self, reason: str) -> None:
        """Note that the designer accepts the problem, in each place it is in; it is no longer listed."""
        problem = self._problem
        places = dict.fromkeys(next(iter(one.object_ids), None) for one in single([problem]))

        def accepted(plan: Plan) -> Plan:
            for object_id in places:
                plan = waivers.accept(plan, problem.rule, object_id, reason)
            return plan

        try:
            self._context.document.edit(f"Accept {problem.rule}", accepted)
        except UserError as error:
            self._error.setText(error.line)
            self._error.show()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        problem = self._problem
        menu = QMenu(self)
        menu.addAction("Go there", self.select).setEnabled(bool(problem.object_ids))
        if problem.edit is not None or not problem.solutions:
            menu.addAction("Fix", self.fix).setEnabled(problem.edit is not None)
        for button in self.ways:
            menu.addAction(button.title, button.click)
        menu.addSeparator()
        menu.addAction("Accept with a reason…", self._ask_reason)
        menu.addAction("Copy", lambda: QGuiApplication.clipboard().setText(problem.message))
        menu.exec(event.globalPos())

    def _ask_reason(self) -> None:
        reason, given = QInputDialog.getText(self, "Accept the problem", "Why is it acceptable here?")
        if given and reason.strip():
            self.accept(reason.strip())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The press must not start anything in what lies behind.
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.select()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.select()
        else:
            super().keyPressEvent(event)


class WaiverRow(QWidget):
    """A problem that the designer accepts, with the reason; it can be taken back."""

    def __init__(self, context: Context, waiver: Waiver) -> None:
        super().__init__()
        self._context, self._waiver = context, waiver
        what = f"{waiver.rule} ({waiver.object_id})" if waiver.object_id else waiver.rule
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(label(what, "problemText"))
        texts.addWidget(label(sentence(waiver.reason), "muted"))
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 4, 4, 4)
        row.addLayout(texts, 1)
        row.addWidget(
            link("Take back", self.take_back, f"No longer accept {what}"), 0, Qt.AlignmentFlag.AlignTop
        )

    def take_back(self) -> None:
        """Remove the waiver; the problem is listed again."""
        gone = self._waiver
        self._context.document.edit(
            f"No longer accept {gone.rule}",
            lambda plan: waivers.withdraw(plan, gone),
        )


class ProblemList(QWidget):
    """Rows of problems; rebuilt only when they differ."""

    def __init__(self, context: Context, most: int = _MOST) -> None:
        super().__init__()
        self._context, self._most = context, most
        self._shown: tuple[Problem, ...] | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def show_problems(self, problems: Iterable[Problem], nothing: str) -> None:
        """Show these, the worst first."""
        order = list(SEVERITIES)
        listed = tuple(sorted(problems, key=lambda p: order.index(p.severity)))
        if self._shown is not None and _same(listed, self._shown):
            return
        self._shown = listed
        empty(self._column)
        for problem in listed[: self._most]:
            self._column.addWidget(ProblemRow(self._context, problem))
        if len(listed) > self._most:
            self._column.addWidget(label(f"and {len(listed) - self._most} more in the Problems tab", "muted"))
        if not listed:
            self._column.addWidget(label(nothing, "muted"))


def concerning(problems: Iterable[Problem], plan: Plan, ids: Iterable[str]) -> list[Problem]:
    """The problems of these objects and of what is inside them; all of them when `ids` is empty."""
    wanted = set(ids)
    if not wanted:
        return list(problems)
    wanted |= inside(plan.locations, wanted)
    wanted |= {host.id for host in plan.hosts if host.location_id in wanted}
    for host in plan.hosts:
        if host.id in wanted:
            wanted.update(disk.id for disk in host.disks)
            wanted.update(process.id for process in plan.processes_of_host[host.id])
    return [problem for problem in problems if wanted & set(problem.object_ids)]


def _words_without_buttons(problem: Problem) -> Iterator[str]:
    """What to do, and why no click does it."""
    fix, missing = problem.fix or "", problem.missing if problem.edit is None else ""
    if fix:
        yield sentence(fix)
    if missing and missing not in fix:
        yield sentence(missing) if missing.startswith("nothing") else f"Needed: {missing}"


def _with_place(problem: Problem, plan: Plan) -> str:
    """The message, after its place where that is some of the nodes and the message names nothing of it."""
    place = _NODES.match(problem.where)
    if place is None:
        return problem.message
    parts = [plan.by_id[i] for i in problem.object_ids if i in plan.by_id]
    names = {place[1], *(str(getattr(part, "hostname", "")) for part in parts)} - {""}
    is_named = any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", problem.message) for name in names)
    return problem.message if is_named else f"{problem.where}: {problem.message}"


def _same(new: tuple[Problem, ...], old: tuple[Problem, ...]) -> bool:
    def key(problem: Problem) -> tuple[object, ...]:
        ways = tuple(way.title for way in problem.solutions)
        return (problem.rule, problem.severity, problem.where, problem.message, problem.object_ids, ways)

    return len(new) == len(old) and all(key(a) == key(b) for a, b in zip(new, old, strict=True))
