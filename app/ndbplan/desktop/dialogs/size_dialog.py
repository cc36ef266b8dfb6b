"""Size a cluster: what it has to do on the left, the clusters that can on the right, cheapest first.

Limits drawn on the axes of their figures leave those that one would take. One click opens an answer as a
variant of the plan; classes of hosts that cannot say what they lack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_percent, format_value, how_many
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.dialogs.size_hardware import HardwareForm
from ndbplan.desktop.dialogs.size_tables import TablesText
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Progress, Task
from ndbplan.desktop.look.text import sentence
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.brush_axes import Axis, BrushAxes
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.fields import ChoiceField, Commit, LineField
from ndbplan.desktop.widgets.sections import Section, label
from ndbplan.desktop.widgets.units import CAPACITY, COUNT, NUMBER, SECONDS, SHARE, TEXT, WHOLE, Unit, rounded
from ndbplan.edits.variants import shortened
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import MOST_GROUPS, Requirements, WantedJob
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.advise.sizing.search import Sized

_ANSWERS = ("", "Groups", "Hosts of data nodes", "Cost", "Holds in", "Nearest limit")
_MOST_ANSWERS = 12
"""So many classes are enough to choose from."""
_RANK_PX, _MOST_HOSTS_PX = 30, 560
"""Widths of columns: hosts differ in the middle of their words, so that these have room for all of them."""
_EXCUSES = ("Hosts that do not pass", "First limit that breaks", "It would pass with")
_AXES = {"memory": "DataMemory", "disk-space": "Fullest disk", "restart": "Restart", "backup": "Backup"}
"""Headline figures that clusters are chosen by, and how they are called here."""
_SURVIVE = (
    ("host", "Any host may fail"),
    ("rack", "Any rack may fail"),
    ("link", "Any rack's switch may fail"),
)
_TIMES = (
    ("restart", "Restart of a node"),
    ("system_restart", "System restart"),
    ("reorganise", "Reorganisation"),
    ("backup", "Backup"),
)
_NONE = "any"
_NOTHING_YET = "Clusters that pass come here, best first; of the others the first limit that each breaks."


class SizeDialog(Dialog):
    """The form, the search in a thread, its answers."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("Size a cluster", "Look for clusters", parent, leave="Close")
        self._document = document
        self._sized: Sized | None = None
        self.stated: dict[str, Any] = {}
        """What was typed other than the form begins with, as `Requirements` has it."""
        self._peaks: dict[str, float] = {}
        self._within: dict[str, float] = {}
        self._job: dict[str, Any] = {}
        self._durability: dict[str, Any] = {}
        self.resize(1500, 720)
        self.fields: dict[str, LineField | ChoiceField] = {}
        self.answers = numbers.NumbersTable("Clusters that pass", _ANSWERS)
        self.excuses = numbers.NumbersTable("Classes that do not pass", _EXCUSES)
        self.answers.selectionModel().selectionChanged.connect(lambda *_: self._tell_chosen())
        self.axes = BrushAxes("Clusters that pass, by their figures")
        self.axes.brushed.connect(self._keep)
        self.axes.chosen.connect(self.answers.select_source_row)
        self.about = label("", "muted")
        """The answer that is chosen, in full."""
        self.answers.doubleClicked.connect(lambda _index: self.open_answer())
        self.said = label("", "muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Classes looked at")
        self.bar.hide()
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.bar)
        column.addWidget(self.said)
        self.nothing = label(_NOTHING_YET, "muted")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.nothing, 1)
        column.addWidget(self.answers, 3)
        column.addWidget(self.axes)
        column.addWidget(self.about)
        column.addWidget(self.excuses, 2)
        self._show_tables(False)
        self.body.addWidget(side_by_side(self._form(), right, (380, 1090)), 1)
        self.opens = QPushButton("Open as a variant")
        self.opens.setToolTip("The chosen cluster, laid out by racks, as a variant of this plan")
        self.opens.clicked.connect(self.open_answer)
        self.add_foot(self.search, self.opens)
        self._enable()
        self._tell_begin()

    # The form

    def _form(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 12, 0)
        begun = Requirements()
        load = self._section(column, "Load")
        for workload in self._workloads():
            self._peak(load, workload)
        self._line(load, "headroom", "Headroom", SHARE, begun.headroom, tip="So much more than the peak")
        data = self._section(column, "Tables")
        self._line(
            data,
            "months",
            "Months ahead",
            COUNT,
            begun.months,
            tip="Rows are as they are then",
        )
        self.tables = TablesText(lambda error: self.state.say(error.line, is_error=True))
        data.body.addWidget(self.tables)
        safe = self._section(column, "What must not stop it")
        replicas = ChoiceField("Replicas", [(n, str(n)) for n in range(1, 5)], self._taker("replicas"))
        replicas.show_value(self._replicas())
        safe.body.addWidget(replicas)
        self.fields["replicas"] = replicas
        self.survive = {name: QCheckBox(text) for name, text in _SURVIVE}
        for name, box in self.survive.items():
            box.setChecked(name in begun.survive)
            safe.body.addWidget(box)
        self.carry = QCheckBox("The peak is carried meanwhile")
        safe.body.addWidget(self.carry)
        times = self._section(column, "Times at most")
        for name, text in _TIMES:
            self._line(times, name, text, SECONDS, None, empty=_NONE, into=self._within)
        self._job_and_durability(column)
        self.hardware = HardwareForm(self._document.plan)
        self._section(column, "Hardware").body.addWidget(self.hardware)
        version = self._section(column, "Version")
        self._line(version, "ndb_version", "NDB version", TEXT, None,
                   empty=f"as planned, {self._document.plan.ndb_version}",
                   tip="How many data nodes and replicas there may be: such as 8.4 or 8.0.17")  # fmt: skip
        money = self._section(column, "Size and money")
        self._line(money, "most_groups", "Node groups at most", COUNT, MOST_GROUPS)
        self._line(money, "budget", "Budget", COUNT, None, empty="none",
                   tip="Over the months of cost, in the plan's currency")  # fmt: skip
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(holder)
        Fade(scroll)
        return scroll

    def _job_and_durability(self, column: QVBoxLayout) -> None:
        begun = WantedJob(within=1.0)
        job = self._section(column, "Load job")
        self._line(job, "within", "Done within", SECONDS, None, empty="no job", into=self._job,
                   tip="The longest that loading the rows may take")  # fmt: skip
        self._line(job, "size", "Size", CAPACITY, None, empty="all rows", into=self._job,
                   tip="Bytes of the values of all rows that are loaded")  # fmt: skip
        self._line(job, "threads", "Threads", WHOLE, begun.threads, into=self._job, tip="Of its loader")
        kept = self._section(column, "Durability")
        self._line(kept, "time_between_global_checkpoints_ms", "Global checkpoints every", WHOLE, None,
                   empty="as planned", into=self._durability,
                   tip="TimeBetweenGlobalCheckpoints in ms: what is lost when all nodes fail")  # fmt: skip

    @staticmethod
    def _section(column: QVBoxLayout, heading: str) -> Section:
        section = Section(heading)
        column.addWidget(section)
        return section

    def _line(
        self, section: Section, name: str, text: str, unit: Unit, value: Any, *, empty: str | None = None,
        tip: str = "", into: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        field = LineField(text, unit, self._taker(name, into), empty=empty, tip=tip)
        field.show_value(value)
        section.body.addWidget(field)
        self.fields[name] = field

    def _peak(self, section: Section, workload: Workload) -> None:
        field = LineField(workload.name, NUMBER, self._taker(workload.name, self._peaks), empty="as planned",
                          tip="Peak in transactions per second")  # fmt: skip
        field.show_value(rounded(self._offered_per_s(workload)) or None)
        section.body.addWidget(field)
        self.fields[workload.name] = field

    def _taker(self, name: str, into: dict[str, Any] | None = None) -> Commit:
        def take(value: Any) -> None:
            kept = self.stated if into is None else into
            before = dict(kept)
            if value is None:
                kept.pop(name, None)
            else:
                kept[name] = value
            try:
                self._requirements()
            except UserError:
                kept.clear()
                kept.update(before)
                raise

        return take

    def _workloads(self) -> list[Workload]:
        return [one for one in self._document.plan.workloads if one.load.kind != "job"]

    def _offered_per_s(self, workload: Workload) -> float:
        from ndbplan.estimate.estimation import Estimation

        return Estimation(self._document.plan, workload).offered_per_s

    def _replicas(self) -> int:
        from ndbplan.configuration.settings import no_of_replicas

        return no_of_replicas(self._document.plan)

    def _requirements(self) -> dict[str, Any]:
        """What is required beside what the plan says. Raises UserError where it makes no sense."""
        from ndbplan.edits.validated import made

        stated = {"answers": _MOST_ANSWERS, **self.stated}
        if self._peaks:
            stated["loads"] = [
                {"name": one.name, "peak_per_s": self._peaks.get(one.name)} for one in self._workloads()
            ]
        if self._within:
            stated["within"] = dict(self._within)
        if "within" in self._job:
            stated["job"] = dict(self._job)
        if self._durability:
            stated["durability"] = dict(self._durability)
        stated["survive"] = [name for name, box in self.survive.items() if box.isChecked()]
        stated["carry_peak"] = self.carry.isChecked()
        if self.tables.statements:
            stated["sql"] = self.tables.statements
        made(Requirements, stated)
        return stated

    # The search

    def search(self) -> None:
        """Look for clusters; while it runs: stop."""
        if self.task is not None:
            self.stop_task()
            self._end()
            self.state.say("stopped")
            return
        plan = self._document.plan
        try:
            stated = {**self._requirements(), "hardware": self.hardware.stated()}
            if self._job and "job" not in stated:
                fix = "type how long it may take"
                raise UserError("a load job of so much has no time", where="Load job", fix=fix)
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self._sized = None
        self.answers.show_rows([])
        self.excuses.show_rows([])
        self.about.setText("")
        self.nothing.setText("")
        self._show_tables(False)
        self.said.setText("Looking for the smallest cluster of each class of hosts…")
        self.state.say("")
        self.take.setText("Stop")
        self.bar.setRange(0, 1000)
        self.bar.setValue(0)
        self.bar.show()
        self.task = self.tasks.start(
            lambda task: sized_in_thread(plan, stated, task), self._found, self._moved
        )

    def _moved(self, progress: Progress) -> None:
        if progress.fraction is not None:
            self.bar.setValue(round(1000 * progress.fraction))

    def _end(self) -> None:
        self.task = None
        self.bar.hide()
        self.take.setText("Look for clusters")
        self._enable()

    def _found(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._end()
        if outcome.error:
            self._tell_begin()
            self.state.say(outcome.error, is_error=True)
            return
        sized: Sized = outcome.value
        self._sized = sized
        hosts = [one.title.partition(": ")[2] for one in sized.plans]
        self.answers.show_rows(
            [
                [
                    numbers.count(one.rank),
                    numbers.count(one.node_groups),
                    numbers.text(words),
                    numbers.Cell("not stated", -1.0)
                    if one.cost is None
                    else numbers.number(one.cost, "Cost"),
                    numbers.Cell(format_percent(standing.holds), standing.holds),
                    numbers.text(one.why),
                ]
                for one, standing, words in zip(sized.plans, sized.choosing.plans, hosts, strict=True)
            ]
        )
        self.axes.show_rows(*_figures_of(sized))
        self.answers.setColumnHidden(_ANSWERS.index("Cost"), all(one.cost is None for one in sized.plans))
        self.answers.setColumnWidth(0, _RANK_PX)
        self.answers.setColumnWidth(2, min(_MOST_HOSTS_PX, self.answers.room_for(hosts)))
        self._show_tables(bool(sized.plans or sized.excuses))
        self.excuses.setVisible(bool(sized.excuses))
        self.excuses.show_rows(
            [
                [numbers.text(text) for text in (one.title, one.first_limit, one.remedy or one.line)]
                for one in sized.excuses
            ]
        )
        if sized.plans:
            text = f"{how_many(len(sized.plans), 'cluster')} pass, best first"
            text = "; ".join(filter(None, (text, sized.further))) + "."
            said = [text, f"ranked by {sized.ranked_by}", *sized.choosing.advice]
            self.answers.selectRow(0)
        else:
            said = ["No class of hosts passes. Below is what each lacks, and what would help."]
        self.said.setText("\n".join(sentence(one) for one in (*said, sized.not_excused)).rstrip())
        self._enable()

    def _show_tables(self, has_answer: bool) -> None:
        self.nothing.setHidden(has_answer)
        for table in (self.answers, self.about, self.excuses):
            table.setVisible(has_answer)
        self.axes.setVisible(self._sized is not None and len(self._sized.plans) > 1)

    def _keep(self, kept: frozenset[int]) -> None:
        """Show the answers within what was drawn on the axes."""
        for row in range(self.answers.model().rowCount()):
            is_out = self.answers.row_of(self.answers.model().index(row, 0)) not in kept
            self.answers.setRowHidden(row, is_out)
        if self.chosen is not None and self.chosen not in kept:
            self.answers.clearSelection()

    def _tell_begin(self) -> None:
        tables, loads = len(self._document.plan.tables), len(self._workloads())
        if tables and loads:
            peaks = "; ".join(
                f"{one.name}: {format_value(self._offered_per_s(one), 'tx/s')}"
                for one in self._workloads()[:3]
            )
            self.said.setText(f"For the plan's {tables} tables and its load. {peaks}.")
        else:
            self.said.setText("The plan has no tables with a load yet: paste CREATE TABLE, and add a load.")

    @property
    def chosen(self) -> int | None:
        """Place of the answer that is selected."""
        rows = self.answers.selectionModel().selectedRows()
        return (
            self.answers.row_of(rows[0]) if rows and self._sized is not None and self._sized.plans else None
        )

    def _tell_chosen(self) -> None:
        at = self.chosen
        self.about.setText("")
        if at is not None and self._sized is not None:
            answer = self._sized.plans[at]
            doubtful = [met.line for met in answer.limits if not met.certain and met.line != answer.why]
            more = f"\nNot certain either: {doubtful[0]}" if doubtful else ""
            settings = f"\nPasses with {', '.join(answer.settings)}" if answer.settings else ""
            standing = self._sized.choosing.plans[at].line
            self.about.setText(f"{answer.title}{settings}\nNearest limit: {answer.why}; {standing}{more}")
        self.axes.show_chosen(at)
        self._enable()

    def _enable(self) -> None:
        self.opens.setEnabled(self.chosen is not None)

    def open_answer(self) -> None:
        """Open the chosen cluster as a variant."""
        at = self.chosen
        if at is None or self._sized is None:
            return
        answer = self._sized.plans[at]
        try:
            name = self._document.edit_as_variant(shortened(answer.title), answer.plan, answer.why)
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.state.say(f"opened as the variant '{name}'")


def sized_in_thread(plan: Plan, stated: dict[str, Any], task: Task) -> Sized:
    """The clusters for a plan's tables and loads with these requirements. Runs in a thread."""
    from ndbplan.advise.sizing.choices import choices, client_host
    from ndbplan.advise.sizing.search import size
    from ndbplan.desktop.document.kernel import prepare_kernel
    from ndbplan.importing.requirements import requirements_of

    prepare_kernel(task)
    wanted = requirements_of(plan, **stated)
    begun = (wanted.requirements, wanted.source, wanted.own)
    sized = size(
        wanted.requirements, wanted.begun, choices(*begun), client_host(*begun),
        progress=task.report, cancelled=task.cancelled,
    )  # fmt: skip
    # Each remembers its figures: they are worked out here, where nobody waits for a key.
    _figures_of(sized)
    return sized


def _figures_of(sized: Sized) -> tuple[list[Axis], list[list[float | None]]]:
    """What the clusters differ in, for axes: the same figures that the command prints."""
    from ndbplan.advise.figures import FIGURES
    from ndbplan.advise.sizing.choosing import nearest

    priced = [one for one in sized.plans if one.cost is not None]
    money = [Axis("Cost", priced[0].cost.unit)] if priced and priced[0].cost is not None else []
    figures = [(name, text) for name, text in _AXES.items() if any(one.figures[name] for one in sized.plans)]
    axes = [*money, *(Axis(text, FIGURES[name].unit) for name, text in figures)]
    axes += [Axis("Nearest limit", "fraction"), Axis("Holds in", "fraction")]
    rows = []
    for one, standing in zip(sized.plans, sized.choosing.plans, strict=True):
        values = [one.figures[name] for name, _ in figures]
        cost = [None if one.cost is None else one.cost.value] if money else []
        own = [None if value is None else value.value for value in values]
        rows.append([*cost, *own, nearest(one), standing.holds])
    return axes, rows
