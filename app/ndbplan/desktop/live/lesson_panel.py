"""A lesson that is played: its task, what came true, its questions and hints, at the end the debriefing."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.units import format_clock
from ndbplan.desktop.live.debriefing import Debriefing
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.sections import Bar, Section, StateLine, empty, label, link
from ndbplan.train.lessons.progress import Asking, Progress, Ticked

_PX = 16
_HINT = "hint"
"""What a hint is asked for with."""


class Tick(QWidget):
    """One goal: not yet, so at the moment, reached, or lost."""

    def __init__(self, says: str) -> None:
        super().__init__()
        self._sign, self._text = QLabel(), label(says, "muted")
        self._state = ""
        self._sign.setFixedSize(_PX, _PX)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        self.says = says
        theme.theme().changed.connect(self._paint)

    @property
    def state(self) -> str:
        """`reached`, `lost`, `holds` or `open`."""
        return self._state

    def show_state(self, ticked: Ticked) -> None:
        """Show how it is now."""
        state = "lost" if ticked.is_broken else "reached" if ticked.is_reached else "open"
        if state == "open" and ticked.holds:
            state = "holds"
        if state != self._state:
            self._state = state
            words = {"reached": "reached", "lost": "lost", "holds": "so at this moment", "open": "not yet"}
            self.setAccessibleName(f"{self.says}: {words[state]}")
            self._paint()

    def _paint(self) -> None:
        t = theme.tokens()
        icon, ink = {
            "reached": ("circle-check", t.good),
            "lost": ("circle-x", t.error),
            "holds": ("circle-dot", t.info),
        }.get(self._state, ("circle-dot", t.faint))
        self._sign.setPixmap(theme.icon_pixmap(icon, ink, _PX))
        self._text.setProperty("look", "rowName" if self._state in ("reached", "lost") else "muted")
        theme.restyle(self._text)


class QuestionBox(QFrame):
    """A question: a number to type, or a choice."""

    answered = Signal(str, str)
    """Its name and the answer."""

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(asking.ask)
        self.name = asking.name
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        column.addWidget(label(asking.ask, "calloutText"))
        self.field: QLineEdit | None = None
        self._choices = QButtonGroup(self)
        self._letters: list[str] = []
        for letter, text in asking.options:
            choice = _Choice(f"{letter})  {text}")
            choice.button.setChecked(asking.given == letter)
            self._choices.addButton(choice.button, len(self._letters))
            self._letters.append(letter)
            column.addWidget(choice)
        foot = QHBoxLayout()
        if not asking.options:
            self.field = QLineEdit(asking.given)
            self.field.setPlaceholderText(asking.example)
            self.field.setAccessibleName(asking.ask)
            self.field.setMaxLength(60)
            self.field.returnPressed.connect(self.give)
            foot.addWidget(self.field, 1)
        self._worth = label("", "muted", wrap=False)
        foot.addWidget(self._worth, 0 if self.field else 1)
        self.button = QPushButton("Answer")
        self.button.clicked.connect(self.give)
        foot.addWidget(self.button)
        column.addLayout(foot)
        self.told = label("", "muted")
        self.told.hide()
        column.addWidget(self.told)
        self.show_asking(asking)

    @property
    def entry(self) -> QWidget:
        """Where an answer is given: the field, or the option that is marked or first."""
        return self.field or self._choices.checkedButton() or self._choices.button(0)

    def show_asking(self, asking: Asking) -> None:
        """Show whether it is open and what it is worth; what a person typed or marked meanwhile stays."""
        said = (
            "answered" if asking.is_right else "closed" if asking.is_closed else f"{asking.points:g} points"
        )
        self._worth.setText(said)
        fields = [*self._choices.buttons(), *([self.field] if self.field else []), self.button]
        for one in fields:
            one.setEnabled(not asking.is_closed)

    def tell(self, text: str) -> None:
        """Show what the last answer was told."""
        self.told.setText(text)
        self.told.setVisible(bool(text))

    def choose(self, letter: str) -> None:
        """Mark an option."""
        self._choices.button(self._letters.index(letter)).setChecked(True)

    def give(self) -> None:
        """Answer with what is typed or marked; nothing: nothing."""
        chosen = self._choices.checkedId()
        text = self.field.text().strip() if self.field is not None else ""
        if chosen >= 0:
            text = self._letters[chosen]
        if text:
            self.answered.emit(self.name, text)


class _Choice(QWidget):
    """A radio button with words that wrap."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.button = QRadioButton()
        self.button.setAccessibleName(text)
        words = _Words(text, self.button)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(words, 1)


class _Words(QLabel):
    def __init__(self, text: str, button: QRadioButton) -> None:
        super().__init__(text)
        self._button = button
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("look", "calloutText")

    def mousePressEvent(self, _event: object) -> None:
        if self._button.isEnabled():
            self._button.setChecked(True)
            self._button.setFocus(Qt.FocusReason.MouseFocusReason)


class LessonPanel(QWidget):
    """Everything of one lesson beside its cluster."""

    said = Signal(str)
    """A line for `lesson>`."""
    save_wanted = Signal()
    """The page to hand in."""
    had_wanted = Signal(str)
    """A moment and a line, to see what had come of it."""
    page_wanted = Signal(str)
    """A page of the guide."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Lesson")
        self.setMinimumWidth(320)
        self._built: tuple[object, ...] = ()
        self._helped: tuple[object, ...] = ()
        self._help: Section | None = None
        self.ticks: list[Tick] = []
        self.questions: dict[str, QuestionBox] = {}
        self._asked = ""
        """The question that was answered last, until it is told how."""
        self._told: dict[str, str] = {}
        """What the last answer to a question was told."""
        self.title = label("", "title")
        self.score = label("", "playTime", wrap=False)
        self.left = label("", "muted", wrap=False)
        self.bar = Bar(0.0, "good")
        self.state = StateLine()
        self.story = Section("What happened", collapsible=True)
        self._story = label("", "calloutText")
        self.story.body.addWidget(self._story)
        self._stage = QWidget()
        self._stage_body = QVBoxLayout(self._stage)
        self._stage_body.setContentsMargins(0, 0, 0, 0)
        self._stage_body.setSpacing(8)
        self.stages = QPushButton("Bring me to…")
        self.stages.setMenu(QMenu(self.stages))
        self.stages.setToolTip(
            "The begin of a stage as the reference route gets there; what lies before it gives no points"
        )
        self.finish = QPushButton("Finish")
        self.finish.setToolTip("You are done: the debriefing follows")
        self.finish.clicked.connect(lambda: self.said.emit("finish"))
        self.save = QPushButton("Save the page to hand in…")
        self.save.setProperty("kind", "primary")
        self.save.clicked.connect(self.save_wanted)
        self.save.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.score)
        head.addStretch(1)
        head.addWidget(self.left)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addWidget(self.story)
        column.addWidget(self._stage)
        column.addStretch(1)
        self._area = area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        Fade(area)
        foot = QHBoxLayout()
        foot.addWidget(self.stages)
        foot.addStretch(1)
        foot.addWidget(self.finish)
        foot.addWidget(self.save)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(area, 1)
        below = QVBoxLayout()
        below.setContentsMargins(14, 6, 14, 12)
        below.setSpacing(8)
        below.addWidget(self.state)
        below.addLayout(foot)
        outer.addLayout(below)

    def show_progress(self, progress: Progress) -> None:
        """Show how far it is; what a person types meanwhile stays."""
        self.score.setText(f"{progress.score:g} of {progress.of} points")
        self.left.setText("" if progress.is_finished else f"{format_clock(int(progress.left_s))} left")
        self.bar.show_fraction(progress.score / progress.of)
        key = (progress.title, progress.place, progress.is_finished)
        if key != self._built:
            self._built = key
            self._build(progress)
        elif not progress.is_finished:
            self._show_questions(progress)
            self._show_help(progress)
        for tick, ticked in zip(self.ticks, (*progress.goals, *progress.keeps), strict=True):
            tick.show_state(ticked)
        seen, wanted = progress.looks
        self._looks.setText(f"{seen} of {wanted} looked at" if wanted else "")
        self._looks.setVisible(bool(wanted))

    def _build(self, progress: Progress) -> None:
        self.title.setText(progress.title)
        self._story.setText(_flowing(progress.story))
        if _has_focus(self._stage):
            self._area.setFocus(Qt.FocusReason.OtherFocusReason)
        empty(self._stage_body)
        self.ticks, self.questions = [], {}
        self._looks = label("", "muted")
        if progress.is_finished:
            self._stage_body.addWidget(self._looks)
            for ticked in (*progress.goals, *progress.keeps):
                self._tick(ticked, self._stage_body)
        else:
            self._build_stage(progress)
        for widget in (self.stages, self.finish):
            widget.setVisible(not progress.is_finished)
        self.save.setVisible(progress.is_finished)
        menu = self.stages.menu()
        menu.clear()
        for place, name in enumerate(progress.stages):
            action = menu.addAction(f"{place + 1}  {name}", partial(self._go_to, name))
            action.setEnabled(place != progress.place)

    def _build_stage(self, progress: Progress) -> None:
        place = progress.place
        task = Section(f"Stage {place + 1} of {len(progress.stages)} · {progress.stages[place]}")
        task.body.addWidget(label(_flowing(progress.task), "calloutText"))
        task.body.addWidget(self._looks)
        for goal in progress.goals:
            self._tick(goal, task.body)
        self._stage_body.addWidget(task)
        for asking in progress.questions:
            box = QuestionBox(asking)
            box.answered.connect(self._give)
            box.tell(self._told.get(asking.name, ""))
            self.questions[asking.name] = box
            self._stage_body.addWidget(box)
        if progress.keeps:
            keeps = Section("All the time")
            for keep in progress.keeps:
                self._tick(keep, keeps.body)
            self._stage_body.addWidget(keeps)
        self._help, self._helped = None, ()
        self._show_help(progress)

    def _show_questions(self, progress: Progress) -> None:
        """Show what became of them where they stand: built anew, the panel moved under a reader."""
        lost = False
        for asking in progress.questions:
            box = self.questions[asking.name]
            had_focus = _has_focus(box)
            # Else the focus of what is switched off goes to the window.
            if had_focus and asking.is_closed:
                lost = True
                self._area.setFocus(Qt.FocusReason.OtherFocusReason)
            box.show_asking(asking)
        still_open = [self.questions[one.name] for one in progress.questions if not one.is_closed]
        if lost and still_open:
            still_open[0].entry.setFocus(Qt.FocusReason.OtherFocusReason)
            self._area.ensureWidgetVisible(still_open[0])

    def _show_help(self, progress: Progress) -> None:
        key = (progress.hints, progress.next_hint_costs, progress.reads)
        if key == self._helped or not any(key):
            return
        self._helped, before = key, self._help
        had_focus = before is not None and _has_focus(before)
        if had_focus:
            self._area.setFocus(Qt.FocusReason.OtherFocusReason)
        self._help = self._help_of(progress)
        self._stage_body.addWidget(self._help)
        if before is not None:
            before.hide()
            before.deleteLater()
        if had_focus and (first := self._help.findChild(QPushButton)) is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _help_of(self, progress: Progress) -> Section:
        section = Section("Help")
        for hint in progress.hints:
            section.body.addWidget(label(_flowing(hint), "calloutText"))
        links = []
        if progress.next_hint_costs is not None:
            words = f"A hint (costs {progress.next_hint_costs} points)"
            links.append(link(words, self._take_hint))
        for page in progress.reads:
            title = page.removesuffix(".md").replace("-", " ").capitalize()
            links.append(link(f"Guide: {title}", partial(self._read, page)))
        for one in links:
            section.body.addWidget(one, 0, Qt.AlignmentFlag.AlignLeft)
        return section

    def _tick(self, ticked: Ticked, where: QVBoxLayout) -> None:
        tick = Tick(ticked.says)
        self.ticks.append(tick)
        where.addWidget(tick)

    def _give(self, name: str, text: str) -> None:
        self._asked = name
        self.said.emit(f"answer {name} {text}")

    def _take_hint(self) -> None:
        self._asked = _HINT
        self.said.emit(_HINT)

    def _read(self, page: str) -> None:
        self.page_wanted.emit(page)

    def _go_to(self, name: str) -> None:
        self.said.emit(f"stage {name}")

    def show_debriefing(self, lines: list[str]) -> None:
        """Show what came of it, in place of the stage."""
        self.story.hide()
        self.debriefing = Debriefing(lines[1:])
        self.debriefing.had_wanted.connect(self.had_wanted)
        self._stage_body.addWidget(self.debriefing)

    def say(self, text: str, *, is_error: bool = False) -> None:
        """The answer to what was done here; the line at the foot says what stands nowhere else."""
        said, asked = text.removeprefix("ndbplan: ").strip(), self._asked
        self._asked = ""
        # A line more says what came true by it.
        has_place = "\n" not in said and (asked in self.questions or (asked == _HINT and not is_error))
        self.state.say("" if has_place else said, is_error=is_error)
        if asked:
            self._told[asked] = said
        if asked in self.questions:
            self.questions[asked].tell(said)


def _has_focus(part: QWidget) -> bool:
    focus = QApplication.focusWidget()
    return focus is not None and part.isAncestorOf(focus)


def _flowing(text: str) -> str:
    """Paragraphs without the line breaks of the file that they are from."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
