"""The command `lesson`: lessons that are played, handed in, checked, and looked at by a trainer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show, simulating
from ndbplan.cli.parameters import Times, UsageError, read_bytes

if TYPE_CHECKING:
    from ndbplan.train.lessons.files import Read
    from ndbplan.train.lessons.model import Begin
    from ndbplan.train.lessons.play import Play

RESULT_SUFFIX = ".html"
Options = dict[str, Any]


@ndbplan.command()
@click.argument("action", metavar="ACTION")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--start", default="", metavar="NAME", help="Which of the lesson's plans, such as today.")
@click.option("--trainee", default="", metavar="NAME", help="With play: who plays it.")
@click.option(
    "--speed", type=Times(or_none=True), default=1.0, show_default=True,
    help="With play: how quickly time passes at a terminal; 0: only with '! wait'.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
    help="With play: the page to hand in. With plan: the plan. With record: the lesson.",
)  # fmt: skip
@click.option("--had", metavar="TEXT", help="With debrief: '8:10 ! set RedoBuffer=64M', done at that moment.")
@click.option("--lesson", "lesson_name", metavar="NAME", help="With debrief and verify: the lesson's file.")
@click.option("--routes", is_flag=True, help="With check: play its routes and near misses too.")
@click.option("--sample", default="starter", metavar="NAME", help="With record: the plan of the lesson.")
@json_option
def lesson(action: str, names: tuple[str, ...], *, as_json: bool, **options: Any) -> None:
    """Lessons on a live cluster, offline.

    \b
    list                  the lessons there are
    plan NAME|FILE        -o: the plan that the lesson is played on, for the other commands
    play NAME|FILE        the consoles of train with the words of the lesson; -o the page to hand in
    debrief FILE          what a page says: times, what was looked at, what was missed; --had one thing more
    verify FILE...        pages are as they were written, and their lines give their scores
    class FOLDER          a table of all pages in a folder
    send SESSION LINE     befall a lesson that runs on this machine; without a line: what came of it;
                          without a session: who plays
    check FILE|NAME       what is wrong with a lesson, with its line; --routes plays it
    record TRANSCRIPT     the skeleton of a lesson from what was recorded with train --record
    schema                the JSON Schema of a lesson file
    """
    known = _ACTIONS.get(action)
    if known is None:
        raise UsageError(
            f"'{action[:40]}' is not an action", where="lesson", fix=f"one of {', '.join(_ACTIONS)}"
        )
    known(names, options, as_json)


def _one(names: tuple[str, ...], what: str, fix: str) -> str:
    if len(names) != 1:
        raise UsageError(f"{what} is wanted", where="lesson", fix=fix)
    return names[0]


def _list(_names: tuple[str, ...], _options: Options, as_json: bool) -> None:
    from ndbplan.train.lessons.files import own

    rows: list[dict[str, Any]] = [
        {"name": one.value.name, "title": one.value.title, "about": one.value.about,
         "starts": [start.name for start in one.value.starts], "limit_s": one.value.limit}
        for one in own()
    ]  # fmt: skip
    text = (f"{row['name']:<20} {row['title']} ({', '.join(row['starts'])})" for row in rows)
    show({"lessons": rows}, as_json=as_json, text=text)


# A lesson that is played.


def _read(name: str) -> Read:
    from ndbplan.train.lessons.files import LESSONS

    try:
        return LESSONS.find(name)
    except UserError as error:
        raise UsageError(error.what, where=error.where or "lesson", fix=error.fix) from None


def _start(found: Read, options: Options) -> Begin:
    start = found.value.start(options["start"])
    if start is None:
        there = ", ".join(one.name for one in found.value.starts)
        raise UsageError(
            f"the lesson has no plan '{options['start']}'", where="--start", fix=f"one of {there}"
        )
    return start


def _plan(names: tuple[str, ...], options: Options, as_json: bool) -> None:
    from ndbplan.plan.file import save
    from ndbplan.train.lessons.begin import plan_of

    start = _start(_read(_one(names, "one lesson", "name one of 'ndbplan lesson list'")), options)
    if options["output"] is None:
        raise UsageError("a file is wanted", where="lesson plan", fix="as in -o lesson.ndbplan")
    save(plan_of(start), options["output"])
    shape = {"file": str(options["output"]), "start": start.name, "workload": start.workload}
    told = f"{options['output']}: the plan '{start.name}'"
    told += f", under its workload '{start.workload}'" if start.workload else ""
    show(shape, as_json=as_json, text=iter([told]))


def _begun(found: Read, options: Options) -> Play:
    from ndbplan.train.lessons.play import Play

    start = _start(found, options)
    with simulating():
        return Play(found.value, start, options["trainee"])


def _play(names: tuple[str, ...], options: Options, as_json: bool) -> None:
    from ndbplan.train.lessons.result import outcome

    found = _read(_one(names, "one lesson", "name one of 'ndbplan lesson list'"))
    play = _begun(found, options)
    said: Callable[[str], None] = (lambda _text: None) if as_json else _plain
    said(f"{play.lesson.title}\n\n{play.lesson.story.strip()}\n\n{play.answer('lesson> task')}\n")
    if sys.stdin.isatty():
        _at_terminal(play, options)
    else:
        for line in sys.stdin:
            if line.strip() and not line.lstrip().startswith("#") and not play.finished:
                said(f"{line.rstrip()}\n{_answered(play, line)}")
    if not play.finished:
        said(play.answer("lesson> finish"))
    _hand_in(play, found, options, said)
    show({"result": outcome(play, found.source)}, as_json=as_json, text=iter(()))


def _answered(play: Play, line: str) -> str:
    """What a line is answered, and the task of a stage that begins."""
    arrivals = play.arrivals
    text = play.answer(line)
    return text + play.task() if play.arrivals > arrivals and not play.finished else text


def _plain(text: str) -> None:
    click.echo(text, nl=False)


def _at_terminal(play: Play, options: Options) -> None:
    from ndbplan.train.lessons.inbox import Inbox
    from ndbplan.train.terminal import Terminal

    with Inbox.opened(play.lesson.name, play.trainee) as inbox:

        class Beside:
            """The lesson, with what a trainer sends before each line."""

            is_over = property(lambda _self: play.finished)
            following = property(lambda _self: play.following)

            def news(self) -> list[tuple[str, str]]:
                return play.news()

            def passes(self, seconds: float) -> None:
                play.passes(seconds)

            def answer(self, line: str) -> str:
                said = ""
                for one in inbox.lines():
                    befallen = play.befall(one)
                    inbox.tell(one, befallen.answer)
                    said += befallen.said
                return said + _answered(play, line)

        Terminal(play.cluster, options["speed"], consoles=Beside()).run(
            "'lesson> help' says what the lesson answers."
        )


def _hand_in(play: Play, found: Read, options: Options, said: Callable[[str], None]) -> None:
    from ndbplan.base.files import write_atomically
    from ndbplan.train.lessons.result import outcome, page

    if options["output"] is not None:
        write_atomically(options["output"], page(outcome(play, found.source)))
        said(f"The page to hand in: {options['output']}. Its debriefing: ndbplan lesson debrief FILE\n")


# What was handed in.


def _page(path: Path) -> dict[str, Any]:
    from ndbplan.train.lessons.result import read_page

    return read_page(read_bytes(path), str(path))


def _debrief(names: tuple[str, ...], options: Options, as_json: bool) -> None:
    from ndbplan.train.lessons.debrief import asked, had, side_by_side
    from ndbplan.train.lessons.result import lines

    found = _page(Path(_one(names, "one page", "name the file that 'lesson play -o FILE' wrote")))
    if options["had"] is None:
        show({"result": found}, as_json=as_json, text=lines(found))
        return
    source = _read(options["lesson_name"] or found["lesson"])
    at_s, line = asked(options["had"], source.value.clock)
    with simulating():
        both = had(found, source, at_s, line)
    show(
        {"result": both.was, "had": both.had, "answer": both.answer},
        as_json=as_json,
        text=side_by_side(both, line),
    )


def _verify(names: tuple[str, ...], options: Options, as_json: bool) -> None:
    if not names:
        raise UsageError("a page is wanted", where="lesson", fix="name the files that were handed in")
    rows, refused = [], []
    for name in names:
        try:
            found = _verified(name, options)
        except UserError as error:
            refused.append(error)
        else:
            rows.append({"file": name, "trainee": found["trainee"], "score": found["score"]})
    text = (
        f"{row['file']}: {row['trainee'] or 'nobody'}, {row['score']:g} points, as handed in" for row in rows
    )
    show({"pages": rows}, as_json=as_json, text=text)
    for one in refused[:-1]:
        click.echo(f"ndbplan: {one.line}", err=True)
    if refused:
        raise refused[-1]


def _verified(name: str, options: Options) -> dict[str, Any]:
    """What is on a page that is as it was handed in. Raises UserError for any other."""
    from ndbplan.train.lessons.debrief import replayed
    from ndbplan.train.lessons.result import ResultError

    found = _page(Path(name))
    source = _read(options["lesson_name"] or found["lesson"])
    with simulating():
        again = replayed(found, source)
    if again != found:
        raise ResultError(
            f"does not follow from its lines: they give {again['score']:g} points, it says "
            f"{found['score']:g}", where=name, fix="play the lesson again, with the same version of it",
        )  # fmt: skip
    return found


def _class(names: tuple[str, ...], _options: Options, as_json: bool) -> None:
    from ndbplan.base.units import format_clock

    folder = Path(_one(names, "one folder", "name the folder with the pages that were handed in"))
    if not folder.is_dir():
        raise UsageError("is not a folder", where=str(folder), fix="name the folder with the pages")
    rows, refused = [], []
    for path in sorted(folder.glob(f"*{RESULT_SUFFIX}")):
        try:
            found = _page(path)
        except UserError as error:
            refused.append({"file": path.name, "why": error.what})
            continue
        rows.append(
            {"file": path.name, "trainee": found["trainee"], "lesson": found["lesson"],
             "start": found["start"], "score": found["score"], **found["times"],
             "hints": len(found["hints"]), "wrong": sum(found["wrong"].values()),
             "rewinds": found["rewinds"]}
        )  # fmt: skip

    def text() -> Iterator[str]:
        spans = ["noticed", "named", "cured"]
        yield (
            f"{'trainee':<18} {'lesson':<18} {'points':>6} {spans[0]:>8} {spans[1]:>8} {spans[2]:>8} "
            "hints wrong back"
        )
        for row in rows:
            spans = [
                "-" if row[key] is None else format_clock(max(0.0, row[key] - (row["trouble_s"] or 0.0)))
                for key in ("noticed_s", "named_s", "cured_s")
            ]
            yield (
                f"{row['trainee'][:18]:<18} {row['lesson'][:18]:<18} {row['score']:>6g} {spans[0]:>8} "
                f"{spans[1]:>8} {spans[2]:>8} {row['hints']:>5} {row['wrong']:>5} {row['rewinds']:>4}"
            )
        for one in refused:
            yield f"refused: {one['file']} {one['why']}"

    show({"results": rows, "refused": refused}, as_json=as_json, text=text())


# For trainers.


def _send(names: tuple[str, ...], _options: Options, as_json: bool) -> None:
    from ndbplan.train.lessons.inbox import answers, send, sessions

    if not names:
        rows = [one._asdict() for one in sessions()]
        text = [f"{row['name']:<30} {row['lesson']:<20} {row['trainee']}" for row in rows]
        show({"sessions": rows}, as_json=as_json, text=iter(text or ["nobody plays here as this user"]))
        return
    if not names[1:]:
        came = answers(names[0])
        show(
            {"session": names[0], "came": came},
            as_json=as_json,
            text=iter(came or ["nothing came of it yet"]),
        )
        return
    line = " ".join(names[1:]).removeprefix("!").strip()
    send(names[0], line)
    show({"session": names[0], "line": line}, as_json=as_json, text=iter([f"{names[0]}: {line}"]))


def _check(names: tuple[str, ...], options: Options, as_json: bool) -> None:
    from ndbplan.base.authored import AuthoredError
    from ndbplan.train.lessons.files import LESSONS, checked

    name = _one(names, "one lesson", "name a file or a lesson")
    tried: list[dict[str, Any]] = []
    try:
        found = LESSONS.find(name)
        faults = checked(found)
        if options["routes"] and not faults:
            tried = list(_tried(found))
    except AuthoredError as error:
        faults = error.problems
    wrong = [row for row in tried if not row["is_right"]]

    def text() -> Iterator[str]:
        for fault in faults:
            mend = f" — {fault.fix}" if fault.fix else ""
            yield f"{name}:{fault.line}: {fault.text}{mend}"
        for row in tried:
            verdict = "as it should" if row["is_right"] else "WRONG"
            why = f" ({row['why']})" if row["why"] else ""
            yield f"{row['start']}: {row['name']}: {row['score']:g} points, {verdict}{why}"
        if not faults and not wrong:
            yield f"{name}: nothing is wrong"

    shape = {"faults": [fault._asdict() for fault in faults], "tried": tried}
    show(shape, as_json=as_json, text=text())
    if faults or wrong:
        raise UsageError(
            f"{len(faults) + len(wrong)} faults", where=name, fix="mend them, then check it again"
        )


def _tried(found: Read) -> Iterator[dict[str, Any]]:
    from ndbplan.train.lessons.trial import trial

    with simulating():
        for start in found.value.starts:
            for one in trial(found.value, start):
                shown = {"name": one.name, "score": one.score, "is_right": one.is_right, "why": one.why}
                yield {"start": start.name, **shown}


def _record(names: tuple[str, ...], options: Options, as_json: bool) -> None:
    from ndbplan.base.files import write_atomically
    from ndbplan.train.lessons.skeleton import skeleton

    path = Path(_one(names, "one transcript", "name the file that 'train --record FILE' wrote"))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise UsageError("cannot be read", where=str(path), fix="name a transcript") from None
    name = options["output"].stem if options["output"] is not None else path.stem
    found = skeleton(lines, name, options["sample"])
    if options["output"] is not None:
        write_atomically(options["output"], found.encode())
    show({"lesson": found}, as_json=as_json, text=iter(found.splitlines()))


def _schema(_names: tuple[str, ...], _options: Options, as_json: bool) -> None:
    from ndbplan.train.lessons.files import LESSONS

    schema = LESSONS.schema()
    show({"schema": schema} if as_json else schema, as_json=True)


_ACTIONS: dict[str, Callable[[tuple[str, ...], Options, bool], None]] = {
    "list": _list, "plan": _plan, "play": _play, "debrief": _debrief, "verify": _verify, "class": _class,
    "send": _send, "check": _check, "record": _record, "schema": _schema,
}  # fmt: skip
