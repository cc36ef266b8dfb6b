"""A lesson that is played: words, points, what is handed in, what had come of it else, and the trainer."""

from __future__ import annotations

import io
import json
import os
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from ndbplan.base.authored import AuthoredError
from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_clock
from ndbplan.cli import all_commands
from ndbplan.plan.file import load
from ndbplan.train.conditions import parsed
from ndbplan.train.consoles import LESSON_WORDS
from ndbplan.train.lessons import inbox
from ndbplan.train.lessons.begin import plan_of
from ndbplan.train.lessons.debrief import had, path, replayed, steps_of
from ndbplan.train.lessons.figures import FIGURES
from ndbplan.train.lessons.files import LESSONS, Read, checked
from ndbplan.train.lessons.looking import sight
from ndbplan.train.lessons.model import Evidence
from ndbplan.train.lessons.play import Play, lines_of_route
from ndbplan.train.lessons.records import TRAINER, Mark
from ndbplan.train.lessons.referee import Referee
from ndbplan.train.lessons.result import ResultError, lines, outcome, page, read_page
from ndbplan.train.lessons.skeleton import skeleton
from ndbplan.train.lessons.trial import Tried, trial

NAME = "redo-overload"


@pytest.fixture(scope="module")
def source() -> Iterator[Read]:
    with keeping():
        yield LESSONS.find(NAME)


@pytest.fixture(scope="module")
def begun(source: Read) -> Play:
    """Ann at the begin of the lesson; to be branched."""
    return Play(source.value, source.value.starts[0], "Ann")


@pytest.fixture(scope="module")
def played(begun: Play) -> Play:
    """Her whole lesson, with a look too early, one step back, a hint and a wrong answer."""
    play = begun.branch()
    for line in ("data1$ df -h", "! wait 100s", "! rewind to 80s", "lesson> hint", *lines_of_route(play, 0)):
        if line.startswith("lesson> answer cause"):
            play.answer("lesson> answer cause a")
        play.answer(line)
    return play


def run(*words: str, text: str = "") -> Result:
    return CliRunner().invoke(all_commands(), ["lesson", *words], input=text)


def test_points_are_what_was_done_without_what_help_costs(played: Play) -> None:
    wrong = 0.34 * 20
    assert played.finished
    assert played.score() == pytest.approx(100 - 4 - 2 - wrong)


def test_a_result_tells_when_the_trouble_came_and_what_was_made_of_it(played: Play, source: Read) -> None:
    found = outcome(played, source.source)
    times = found["times"]
    assert 60 < times["trouble_s"] < times["noticed_s"] <= times["named_s"] < times["cured_s"]
    first, buffers = found["looks"][0], found["looks"][1]
    assert (first["shows"], first["truth"]["redo_buffer"]) == ("", "0.26 %")
    assert buffers["shows"] == "buffers"
    # They fill and empty with the checkpoints.
    assert float(buffers["truth"]["redo_buffer"].rstrip("%")) > 50
    assert "50331648" in buffers["answer"]
    assert [one["name"] for one in found["missed"]] == ["threads"]


def test_the_same_lines_give_the_same_page_and_one_byte_more_or_other_is_refused(
    played: Play, source: Read
) -> None:
    found = outcome(played, source.source)
    content = page(found)
    assert read_page(content, "ann.html") == found
    again = replayed(found, source)
    assert page(again) == content
    rng = random.Random(3)
    for at in [0, len(content) - 1, *(rng.randrange(len(content)) for _ in range(60))]:
        changed = bytearray(content)
        changed[at] ^= 1
        with pytest.raises(ResultError):
            read_page(bytes(changed), "ann.html")
    for other in (content + b"\n", content[:-1], b"", b"<html></html>"):
        with pytest.raises(ResultError):
            read_page(other, "ann.html")


def test_had_it_been_done_is_the_play_with_that_line(played: Play, source: Read) -> None:
    found = outcome(played, source.source)
    at_s, line = 70.0, "! move redo to c0d0"
    both = had(found, source, at_s, line)
    assert "rolling restart" in both.answer
    kept = path(steps_of(found))
    (under_way,) = (step for step in kept if step.at_s < at_s < step.ended_s)
    assert under_way.line.startswith("! wait")
    whole = Play(source.value, source.value.starts[0], "Ann")
    for step in kept[: kept.index(under_way)]:
        whole.again(step)
    whole.again(under_way._replace(ended_s=at_s))
    whole.answer(line, TRAINER)
    whole.again(under_way._replace(at_s=at_s))
    for step in kept[kept.index(under_way) + 1 :]:
        whole.again(step)
    whole.pass_to(found["ended_s"])
    assert page(both.had) == page(outcome(whole, source.source))
    assert both.had["times"]["cured_s"] is None or both.had["times"] != both.was["times"]
    # What it was is what was handed in, without the way back.
    assert both.was["times"]["named_s"] == found["times"]["named_s"]


def test_what_had_been_done_is_told_with_the_answer_that_came_later(begun: Play, source: Read) -> None:
    play = begun.branch()
    play.cluster.apart = True
    for line in ("! wait 60s", "lesson> finish"):
        play.answer(line)
    both = had(outcome(play, source.source), source, 20.0, "data1$ iostat -kx 2 3")
    assert both.answer.count("avg-cpu:") == 3
    assert "under way" not in both.answer


def test_a_goal_says_how_long_it_is_to_be_so_and_by_when(source: Read) -> None:
    goal = source.value.stages[-1].goals[0]
    assert goal.asks_for == f"{goal.says}, for 2 min"
    assert goal.model_copy(update={"by": 1020.0, "lasts": 0.0}).asks_for == f"{goal.says}, by 17:00"


def test_a_wait_under_way_is_broken_off_for_what_had_been_done(played: Play, source: Read) -> None:
    found = outcome(played, source.source)
    wait = max(path(steps_of(found)), key=lambda step: "! wait" in step.line and step.ended_s - step.at_s)
    at_s = round((wait.at_s + wait.ended_s) / 2, 1)
    assert wait.at_s < at_s < wait.ended_s
    both = had(found, source, at_s, "ndb_mgm> ALL STATUS")
    looked = [one["at_s"] for one in both.had["looks"] if one["line"] == "ndb_mgm> ALL STATUS"]
    assert at_s in looked
    assert [one["at_s"] for one in both.was["looks"]] == [
        one["at_s"] for one in both.had["looks"] if one["at_s"] != at_s
    ]


@pytest.mark.parametrize(
    "line",
    ["! kill node:3", "! load x0.5", "lesson> answer cause b", "lesson> answer served 3",
     "lesson> stage none", "lesson> fly", "nobody"],
)  # fmt: skip
def test_what_is_not_to_be_done_now_changes_nothing_and_says_so(begun: Play, line: str) -> None:
    play = begun.branch()
    before = (play.cluster.history, play.cluster.now_s, play.place)
    assert play.answer(line).startswith("ndbplan: ")
    assert (play.cluster.history, play.cluster.now_s, play.place) == before


def test_the_reference_route_leads_to_a_stage_and_gives_no_points(begun: Play) -> None:
    play = begun.branch()
    assert play.answer("lesson> stage cure").startswith("You are at the begin of 'cure'")
    assert "Stage 3 of 3" in play.task()
    assert play.stage is not None
    assert (play.stage.name, play.skipped, play.score()) == ("cure", {"notice", "name"}, 0.0)
    reference = begun.branch()
    for stage in reference.lesson.stages[:2]:
        for line in reference.route_lines(stage.routes[0]):
            reference.answer(line)
    assert play.cluster.result().to_csv() == reference.cluster.result().to_csv()
    for line in play.route_lines(play.stage.routes[0]):
        play.answer(line)
    assert play.finished
    assert play.score() == 30 + 10


def test_what_was_cured_and_is_undone_gives_no_points(played: Play, source: Read) -> None:
    """A trainer undoes it behind the last line."""
    play = played.branch()
    play.cluster.act(next(iter(_slowed(play))))
    play.cluster.advance(20)
    assert "served" in play.lost()
    assert play.score() == played.score() - 30


def _slowed(play: Play) -> Iterator[object]:
    from ndbplan.train import world

    yield from world.deed("slow disk:data1/redo 1%", play.cluster).acts


def test_random_lines_are_answered(begun: Play) -> None:
    rng = random.Random(7)
    words = [*LESSON_WORDS, "cause", "a", "b", "rate", "1MB/s", "notice", "name", "cure", "x", "-1", "{rate}"]
    play = begun.branch()
    for turn in range(400):
        if turn % 50 == 0 or play.finished:
            play = begun.branch()
        text = " ".join(rng.choice(words) for _ in range(rng.randrange(4)))
        if "stage" in text and "cure" in text:
            continue
        assert isinstance(play.answer(f"lesson> {text}"), str)


# Files of lessons.


def changed(source: Read, **fields: object) -> bytes:
    return yaml.safe_dump(yaml.safe_load(source.source) | fields, sort_keys=False).encode()


@pytest.mark.parametrize(
    ("old", "new", "field", "words"),
    [
        ("when: stopped = 0", "when: nosuch = 0", "keeps.0.when", "'nosuch' is not a quantity"),
        ("points: 30", "points: 31", "stages", "are 101 together"),
        ("figure: redo-bytes-per-s", "figure: speed", "stages.1.questions.1.figure", "is not a figure"),
        ("sample: redo-overload\n", "sample: mine\n", "starts.0", "'mine' is not a sample"),
        ("do: 'load x{peak}'", "do: 'fly'", "happens.1.do", "'fly' is nothing that can be done"),
        ("'! move redo to {free}'", "'move redo'", "stages.2.routes.1.0", "names no console"),
        ("name: served", "name: disk", "stages.2.goals.0.name", "is there twice"),
        ("'! move redo to {free}'", "'! shift redo'", "stages.2.routes.1.0", "'shift' is nothing"),
        ("'! move redo to {free}'", "'! kill node:1'", "stages.2.routes.1.0", "'kill' is not among"),
        ("'lesson> answer cause b'", "'lesson> answer why b'", "stages.1.routes.0.1", "answers no question"),
        ("'lesson> answer cause b'", "'lesson> guess b'", "stages.1.routes.0.1", "is no word of a lesson"),
        ("name: cure\n", "name: name\n", "stages.2.name", "is there twice"),
        ("reads: [simulation.md", "reads: [simulate.md", "reads.0", "has no page 'simulate.md'"),
    ],
)  # fmt: skip
def test_a_fault_of_a_lesson_is_named_with_its_line(
    source: Read, old: str, new: str, field: str, words: str
) -> None:
    text = source.source.decode().replace(old, new, 1)
    faults = checked(LESSONS.parse(text.encode(), "mine.yaml"))
    fault = next(one for one in faults if one.field.startswith(field))
    assert words in fault.text
    lines = [i for i, one in enumerate(text.splitlines(), start=1) if new.strip() in one]
    assert fault.line in (lines[-1], lines[-1] - 1) or field == "stages"


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        (b"a: [", "mine.yaml:2", "is not YAML"),
        (b"\xff", "mine.yaml:1", "is not UTF-8"),
        (b"- 1", "mine.yaml:1", "is not a lesson"),
        (b"format: 1\nname: X y\n", "mine.yaml", "name"),
        (b"format: 2\n", "mine.yaml:1", "format: '2'"),
    ],
)
def test_a_file_that_is_no_lesson_is_refused_in_one_line(text: bytes, where: str, words: str) -> None:
    with pytest.raises(AuthoredError) as found:
        LESSONS.parse(text, "mine.yaml")
    assert found.value.where.startswith(where)
    assert any(words in fault.text for fault in found.value.problems)
    assert "\n" not in found.value.line


def test_a_recorded_session_becomes_a_lesson_that_only_texts_are_missing_in(tmp_path: Path) -> None:
    record = """! wait 30s
! load x2
! wait 20s
! kill node:4
! wait 10s
ndb_mgm> SHOW
data2$ ndbmtd
! until nodes_started 2 within 10min
! wait 30s
! wait 40s""".splitlines()
    found = LESSONS.parse(skeleton(record, "mine", NAME).encode(), "mine.yaml")
    assert checked(found) == []
    assert [(one.at, one.do) for one in found.value.happens] == [
        (pytest.approx(50.0, abs=0.2), "kill node:4")
    ]
    assert found.value.stages[0].routes[0][-1] == "! wait 70s"
    assert set(found.value.allows) == {"load"}


def test_fragments_in_ndbinfo_show_how_rows_lie_too() -> None:
    lesson = LESSONS.find("add-nodes").value
    play = Play(lesson, lesson.starts[-1])
    play.answer(
        "mysql> SELECT node_id, fragment_num, fixed_elem_count FROM ndbinfo.memory_per_fragment "
        "WHERE fq_name = 'test/def/t1' ORDER BY 2, 1;"
    )
    assert play.score() == lesson.stages[0].evidence[0].points


def test_each_look_that_was_recorded_is_evidence_by_words_of_its_own() -> None:
    """Not what was refused, and not a word that another line has too."""
    record = """ndb_mgm> ALL STATUS
ndb_mgm> bogus line
mysql> SELECT node_id, status FROM ndbinfo.nodes WHERE status = 'STARTED' ORDER BY 1 DESC;
mysql> SELECT nothing FROM ndbinfo.nodes;
data1$ tail no.log
data1$ iostat -kx
data1$ iostat -kx 1
ndb_mgm> SHOW""".splitlines()
    found = LESSONS.parse(skeleton(record, "mine", NAME).encode(), "mine.yaml").value
    looks = [one.look for one in found.stages[0].evidence]
    assert looks == [("ndb_mgm> ALL STATUS",), ("from ndbinfo.nodes",), ("$ iostat",), ("ndb_mgm> SHOW",)]


def test_what_is_recorded_happens_when_it_did_however_long_a_line_took() -> None:
    """Waits alone say nothing of `! until`, and what a rewind leads back over has not happened."""
    record = """! kill node:4
data2$ ndbmtd
! until nodes_started 2 within 10min
! hang node:3
! wait 1s
! rewind 1s
! slow disk:data1/redo 20MB/s""".splitlines()
    happens = LESSONS.parse(skeleton(record, "mine", NAME).encode(), "mine.yaml").value.happens
    assert [one.do for one in happens] == ["kill node:4", "slow disk:data1/redo 20MB/s"]
    assert happens[1].at > 10


def test_what_a_trainer_sends_and_is_refused_is_no_deed(begun: Play, source: Read) -> None:
    play = begun.branch()
    assert "ndbplan: " in play.befall("kill node:99").answer
    play.befall("slow disk:data1/redo 20MB/s")
    deeds = [step.line for step in play.steps if step.by == TRAINER]
    assert deeds == ["! slow disk:data1/redo 20MB/s"]
    assert "node:99" not in "\n".join(lines(outcome(play, source.source)))


# The command, and the trainer.


def test_a_lesson_is_played_handed_in_and_looked_at(tmp_path: Path, begun: Play) -> None:
    text = "\n".join([*lines_of_route(begun, 0), "lesson> score"])
    ann, bob = tmp_path / "ann.html", tmp_path / "bob.html"
    done = run("play", NAME, "--trainee", "Ann", "-o", str(ann), text=text)
    assert done.exit_code == 0, done.output
    assert "The lesson is over: 100 of 100 points." in done.output
    done = run(
        "play", NAME, "--trainee", "Bob", "-o", str(bob), "--json", text="! wait 10s\nlesson> finish\n"
    )
    assert json.loads(done.output)["result"]["score"] == 0
    assert "Ann, 100 points, as handed in" in run("verify", str(ann)).output
    told = run("debrief", str(ann), "--had", "1:10 ! move redo to c0d0").output
    assert "would have been" in told
    assert "It was cured after" in run("debrief", str(ann)).output
    (tmp_path / "eve.html").write_bytes(ann.read_bytes().replace(b"Ann", b"Eve"))
    rows = json.loads(run("class", str(tmp_path), "--json").output)
    assert [(row["trainee"], row["score"]) for row in rows["results"]] == [("Ann", 100), ("Bob", 0)]
    assert [row["file"] for row in rows["refused"]] == ["eve.html"]
    both = run("verify", str(tmp_path / "eve.html"), str(ann))
    assert "Ann, 100 points, as handed in" in both.output, "one that is refused hides no other"
    assert "was changed" in str(both.exception)
    table = run("class", str(tmp_path)).output
    assert "refused: eve.html was changed" in table


def test_the_plan_of_a_lesson_is_a_file_for_other_commands(tmp_path: Path) -> None:
    file = tmp_path / "lesson.ndbplan"
    assert run("plan", "node-restart", "--start", "today", "-o", str(file)).exit_code == 0
    start = LESSONS.find("node-restart").value.start("today")
    assert start is not None
    assert load(file) == plan_of(start)


def test_a_page_whose_score_does_not_follow_is_refused(tmp_path: Path, played: Play, source: Read) -> None:
    found = outcome(played, source.source) | {"score": 100.0}
    file = tmp_path / "ann.html"
    file.write_bytes(page(found))
    done = run("verify", str(file))
    assert done.exit_code != 0
    assert "does not follow from its lines" in str(done.exception)


def test_a_trainer_befalls_a_session_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: Play, source: Read
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with inbox.Inbox.opened(NAME, "Ann Smith") as box:
        name = f"ann-smith-{os.getpid()}"
        assert [one.name for one in inbox.sessions()] == [name]
        assert (tmp_path / "ndbplan" / "lessons").stat().st_mode & 0o077 == 0
        assert run("send", name, "kill", "node:4").exit_code == 0
        play = begun.branch()
        assert run("send", name).stdout == "nothing came of it yet\n"
        for line in box.lines():
            befallen = play.befall(line)
            assert befallen.said == "", "the trainee is not told of it"
            box.tell(line, befallen.answer)
        assert box.lines() == []
        inbox.send(name, "heal")
        assert box.lines() == ["heal"], "each line is told once"
        assert run("send", name).stdout == "kill node:4: 0:00 node:4 is killed\n"
        assert "nothing that befalls a cluster" in str(run("send", name, "wait", "5s").exception)
        play.cluster.advance(3)
        assert "4" not in {str(i) for i in play.cluster.state.alive()}
        assert [step.by for step in play.steps] == ["trainer"]
        play.answer("lesson> finish")
        found = outcome(play, source.source)
        assert replayed(found, source) == found
        assert "What the trainer did" in list(lines(found))
        with pytest.raises(UserError, match="no session"):
            inbox.send("nobody-1", "heal")
    assert inbox.sessions() == []


def test_rewinding_lets_broken_keeps_and_reached_goals_be_as_they_were(begun: Play) -> None:
    play = begun.branch()
    play.answer("! wait 5s")
    at_s = play.cluster.now_s
    play.answer("! kill node:3,node:4", TRAINER)
    play.answer("! wait 30s")
    assert play.broken_keeps()
    play.answer(f"! rewind to {at_s:g}s")
    assert play.broken_keeps() == {}
    assert format_clock(play.cluster.now_s) == format_clock(at_s)


def test_a_task_says_what_is_asked_and_how_far_its_goals_are(begun: Play) -> None:
    play = begun.branch()
    assert "Looked at so far: 0 of 1." in play.answer("lesson> task")
    for route_line in play.route_lines(play.lesson.stages[0].routes[0]):
        said = play.answer(route_line)
    assert said.endswith("[lesson] Stage 'notice' is done.\n")
    assert "lesson> answer cause …: What holds the transactions up?" in play.task()
    for route_line in play.route_lines(play.lesson.stages[1].routes[0]):
        said = play.answer(route_line)
    assert "with the redo buffers nearly empty, for 2 min (not so yet)." in play.task()
    assert "All the time: The cluster never stopped." in play.task()


def test_bytes_without_a_unit_cost_nothing(begun: Play) -> None:
    play = begun.branch()
    play.answer("lesson> stage name")
    play.answer("data1$ iostat -kx")
    assert "has no unit" in play.answer("lesson> answer rate 48")
    assert play.asked["rate"].wrong == 0


def test_a_debriefing_tells_what_was_right(begun: Play, source: Read) -> None:
    """Who answered wrongly reads the number, and what is accepted."""
    play = begun.branch()
    play.answer("lesson> stage name")
    play.answer("data1$ iostat -kx")
    assert "right is" not in play.answer("lesson> answer rate 9999GB/s"), "it may be answered once more"
    of_rate = play.asked["rate"]
    assert of_rate.expected is not None
    told = [line for line in lines(outcome(play, source.source)) if "right is" in line]
    assert told == [f"  name: answered 9999GB/s; right is {of_rate.truth}"]
    asked = [line for line in lines(outcome(play, source.source)) if "?" in line]
    assert asked
    assert all("? — not done" in line for line in asked), "a question ends with its own sign"
    assert of_rate.truth.endswith(")") == (of_rate.expected.low < of_rate.expected.high)
    while not of_rate.is_closed:
        said = play.answer("lesson> answer rate 9999GB/s")
    assert f"worth nothing any more: right is {of_rate.truth}." in said
    play.answer("lesson> answer cause z")
    answered = {item["name"]: item.get("answers") for item in outcome(play, source.source)["items"]}
    assert (len(answered["rate"]), answered["cause"]) == (of_rate.wrong, None), "nobody tried the other one"


def test_a_goal_is_reached_when_it_has_held_without_a_break_as_long_as_it_has_to(begun: Play) -> None:
    sim = begun.branch().cluster.session.simulation
    there, gone = parsed("nodes_started < 99"), parsed("nodes_started > 99")
    referee = Referee({"long": (there, 3.0), "at once": (there, 0.0), "never": (gone, 0.0)}, {})
    referee.since = dict.fromkeys(referee.goals, -1.0)
    for second, holds, reached in (
        (100, True, {"at once": 100}),
        (102, True, {"at once": 100}),
        (103, False, {"at once": 100}),
        (104, True, {"at once": 100}),
        (106, True, {"at once": 100}),
        (107, True, {"at once": 100, "long": 104}),
        (200, True, {"at once": 100, "long": 104}),
    ):
        sim.step = round(second / sim.scenario.step_s)
        referee.goals["long"] = (there if holds else gone, 3.0)
        referee.look(sim)
        assert referee.reached == reached


def test_a_goal_that_is_so_within_a_second_counts_though_the_next_line_undoes_it() -> None:
    """At a breakpoint both nodes were started, the next line restarted one, and the goal came too late."""
    read = LESSONS.find("node-restart")
    begin = Play(read.value, read.value.starts[-1])
    route = list(lines_of_route(begin, 0))
    at = route.index("data2$ ndbmtd")
    for line in route[:at]:
        begin.answer(line)
    within = set()
    for tenth in range(0, 10, 3):
        play = begin.branch()
        for line in (f"! wait {1 + tenth / 10:g}s", *route[at : at + 3]):
            play.answer(line)
        reached_s, last = play.marks["started"].at_s, play.steps[-1]
        assert last.line.startswith("! set ")
        assert last.at_s - 1.0 < reached_s <= last.at_s
        within.add(reached_s == int(reached_s))
        play.answer("! wait 20s")
        play.answer(f"! rewind to {last.at_s + 5.0:g}s")
        assert play.referee.reached["started"] == reached_s
        assert play.marks["started"].points == 15
    assert False in within


def test_the_task_says_how_much_time_is_left_down_to_none(begun: Play) -> None:
    play = begun.branch()
    sim = play.cluster.session.simulation
    for left_s in (90, 1, 0):
        sim.step = sim.scenario.steps - round(left_s / sim.scenario.step_s)
        assert play.task().endswith(f"  {format_clock(left_s)} of simulated time is left.\n")


def test_the_schema_describes_the_lessons(source: Read) -> None:
    import jsonschema

    shape = json.loads(run("schema").output)
    jsonschema.validate(yaml.safe_load(io.BytesIO(source.source)), shape)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(changed(source, limit=[])), shape)


def test_time_that_flows_is_written_down_once_and_none_is_not(begun: Play) -> None:
    play = begun.branch()
    play.flow(0.0)
    play.answer("lesson> task")
    play.flow(2.5)
    play.flow(0.5)
    play.answer("lesson> task")
    assert [step.line for step in play.steps] == ["lesson> task", "! wait 3s", "lesson> task"]


def test_points_have_one_digit_behind_the_point(begun: Play) -> None:
    """A question of 3 points that was answered wrong once brings 1.98."""
    play = begun.branch()
    play.marks["cause"] = Mark("cause", 1.0, 1.98, "")
    assert play.score() == 2.0
    play.marks["cause"] = Mark("cause", 1.0, 1.94, "")
    assert play.score() == 1.9


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ({"hints": ["x/0"]}, "1 hint, 0 wrong answers, 0 times back, 0 stages skipped"),
        ({"wrong": {"cause": 2}}, "0 hints, 2 wrong answers, 0 times back, 0 stages skipped"),
        ({"rewinds": 1}, "0 hints, 0 wrong answers, 1 time back, 0 stages skipped"),
        ({"skipped": ["x"]}, "0 hints, 0 wrong answers, 0 times back, 1 stage skipped"),
    ],
)
def test_any_help_is_told_and_without_any_nothing_is(
    begun: Play, source: Read, of: dict[str, object], said: str
) -> None:
    found = outcome(begun, source.source)
    assert not any("skipped" in line for line in lines(found))
    assert f"  {said}" in list(lines(found | of))


def test_a_lesson_whose_near_miss_reaches_all_points_fails_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = [Tried("route 1", ("! clock",), 100.0, True), Tried("without 'SHOW'", (), 40.0, False)]
    monkeypatch.setattr("ndbplan.train.lessons.trial.trial", lambda _lesson, _start: iter(tried))
    good = run("check", NAME, "--routes")
    assert good.exit_code == 0
    assert "today: without 'SHOW': 40 points, as it should" in good.output
    tried.append(Tried("nothing is done", (), 100.0, False))
    bad = run("check", NAME, "--routes")
    assert bad.exit_code
    assert "nothing is done: 100 points, WRONG" in bad.output
    assert "2 faults" in str(bad.exception), "one for each of its two plans"


def test_a_line_that_was_refused_is_no_evidence(begun: Play) -> None:
    play = begun.branch()
    assert play.stage is not None
    wanted = next(iter(play.stage.evidence))
    for line in (f"ndb_mgm> SELECT * FROM {wanted.look[0]};", f"mysql> SELECT * FROM {wanted.look[0]}_x;"):
        play.answer(line)
        assert not play.marks, line
        assert play.looks[-1].shows == ""


@pytest.mark.parametrize(
    ("line", "answer", "sees", "shows"),
    [
        ("data1$ iostat", "iostat: the figures of -x in kB are simulated here: say iostat -kx\n", (), False),
        ("data1$ iostat -kx", "ssh: connect to host data1 port 22: No route to host\n", (), False),
        ("data1$ iostat -kx | grep nowhere", "", (), False),
        ("data1$ iostat -kx", "avg-cpu:  %user\n", (), True),
        ("mysql> SELECT * FROM iostat WHERE k = 9", "Empty set (0.00 sec)\n\n", (), False),
        ("mysql> SELECT used FROM iostat, b", "ERROR 1052 (23000): Column 'used' is ambiguous\n", (), False),
        ("mysql> SELECT used iostat\\G", "*** 1. row ***\nused: 1\n1 row in set (0.00 sec)\n", (), True),
        ("mysql> iostat", "ERROR 1297 (HY000): Got temporary error 410\n", ("410",), True),
        ("mysql> iostat", "ERROR 1297 (HY000): Got temporary error 1221\n", ("410",), False),
        ("ndb_mgm> iostat", "Connected to management server at a\nInvalid command: iostat\n", (), False),
    ],
)
def test_what_is_refused_or_finds_nothing_is_no_look_unless_the_error_is_what_is_to_be_seen(
    begun: Play, line: str, answer: str, sees: tuple[str, ...], shows: bool
) -> None:
    wanted = Evidence(name="e", look=("iostat",), sees=sees, says="It is so")
    assert sight(wanted, line, answer, begun.cluster.session.simulation).shows is shows


def test_a_machine_without_the_disk_that_is_asked_for_shows_nothing_of_it() -> None:
    lesson = LESSONS.find("redo-log-full").value
    play = Play(lesson, lesson.starts[0])
    play.answer("lesson> stage name")
    play.answer("app1$ iostat -kx")
    assert "idle" not in play.marks
    play.answer("data2$ iostat -kx")
    assert "idle" in play.marks


def test_a_backup_in_the_busy_hours_is_not_the_one_that_waited_for_quiet() -> None:
    lesson = LESSONS.find("backup-window").value
    play = Play(lesson, lesson.starts[0])
    play.answer("ndb_mgm> START BACKUP")
    for line in lines_of_route(play, 0):
        play.answer(line)
    assert "quiet" not in play.marks
    assert play.score() < 100


def test_a_look_that_does_not_show_it_is_told_and_gives_no_points() -> None:
    lesson = LESSONS.find("checkpoint-stall").value
    play = Play(lesson, lesson.starts[0])
    play.answer("! until refused 1 within 10min")
    early = play.answer("app1$ tail ndb_1_cluster.log")
    assert "GCP_SAVE" not in early
    assert "lag" not in play.marks
    assert "Looked at so far: 0 of 1. Your look at 1:03 did not show it" in play.answer("lesson> task")
    play.answer("! wait 40s")
    assert "GCP_SAVE lag" in play.answer("app1$ tail ndb_1_cluster.log")
    assert play.marks["lag"].points
    play.answer("data1$ iostat -kx")
    assert "an answer without a look is a guess" in play.answer("lesson> answer next b")


def test_a_node_whose_disks_are_well_comes_back_from_them_and_its_loss_is_seen_late_too() -> None:
    lesson = LESSONS.find("terabyte-back").value
    play = Play(lesson, next(one for one in lesson.starts if one.name == "tenth"))
    for line in ("lesson> stage loss", "! wait 61s", "data2$ ndbmtd --initial", "! wait 30s"):
        play.answer(line)
    play.answer("app1$ tail -n 40 ndb_145_cluster.log")
    assert play.marks["gone"].points, "the log still has it while the node starts"
    for line in ("lesson> answer longest a", "ndb_mgm> ALL STATUS", "! until nodes_started 2 within 60min"):
        play.answer(line)
    play.answer("! wait 5s")
    assert play.cluster.now_s > 9 * 60.0, "all rows were copied"
    assert not play.marks["returned"].points


def test_a_debriefing_says_where_all_points_are_from(source: Read, played: Play) -> None:
    found = outcome(played, source.source)
    text = "\n".join(lines(found))
    given = sum(float(got) for got in re.findall(r"^  ([0-9.]+) of [0-9.]+  ", text, re.MULTILINE))
    (less,) = re.findall(r"; ([0-9.]+) points less for hints and going back", text)
    assert given - float(less) == pytest.approx(found["score"])


def test_a_debriefing_of_what_was_not_finished_says_when_the_rest_counts(
    source: Read, begun: Play, played: Play
) -> None:
    told = "kept, which counts once all stages are done"
    assert told in "\n".join(lines(outcome(begun.branch(), source.source)))
    assert told not in "\n".join(lines(outcome(played, source.source)))


def test_a_route_that_falls_short_says_why(source: Read) -> None:
    lesson = source.value.model_copy(update={"allows": ()})
    tried = {one.name: one for one in trial(lesson, lesson.starts[-1], 0)}
    assert not tried["route 1"].is_right
    assert tried["route 1"].why.startswith("not done: ")
    assert "is not in your hands in this lesson" in tried["route 1"].why


def test_the_guide_lists_every_lesson() -> None:
    text = (Path(__file__).parents[3] / "resources" / "guide" / "lessons.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[1].strip() for line in text.partition("## The lessons")[2].splitlines() if "|" in line
    ]
    assert sorted(rows[2:]) == sorted(found.stem for found in LESSONS.folder.glob("*.yaml"))


def test_the_guide_names_every_figure() -> None:
    text = (Path(__file__).parents[3] / "resources" / "guide" / "trainers.md").read_text(encoding="utf-8")
    assert [name for name in FIGURES if f"`{name}`" not in text] == []


def test_half_a_line_that_a_trainer_sends_waits_for_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with inbox.Inbox.opened(NAME, "Ann Smith") as box:
        inbox.send(f"ann-smith-{os.getpid()}", "kill node:4")
        (written,) = (path for path in box.folder.iterdir() if b"kill node:4\n" in path.read_bytes())
        with written.open("ab") as file:
            file.write(b"heal\nslow disk")
            file.flush()
            assert box.lines() == ["kill node:4", "heal"]
            file.write(b":data1/vol0 30%\n")
            file.flush()
            assert box.lines() == ["slow disk:data1/vol0 30%"]


def test_a_question_shows_the_unit_of_its_answer(played: Play) -> None:
    """An answer in the form that is shown can be read; of rows it is a bare number."""
    rate = played.asked["rate"]
    for unit, example in (("bytes/s", "48MB/s"), ("bytes", "48M"), ("s", "90s"), ("rows", "a number")):
        asked = replace(rate, expected=Quantity.exact(1, unit), given=[], wrong=0, is_right=False)
        assert asked.example == example
        if unit != "rows":
            asked.give(asked.example)
            assert asked.given == [example]


def test_a_goal_that_time_goes_back_over_is_to_be_reached_again() -> None:
    """The stage was done with its look alone, and the lesson over while the node still started."""
    lesson = LESSONS.find("terabyte-back").value
    play = Play(lesson, next(one for one in lesson.starts if one.name == "tenth"), "Ann")
    for stage in lesson.stages[:2]:
        for line in play.route_lines(stage.routes[0]):
            play.answer(line)
    assert play.place == 2
    play.answer("! start node:2")
    play.answer("! until nodes_started 2 within 70min")
    assert "returned" in play.marks
    play.answer("! rewind 60s")
    assert "returned" not in play.marks
    play.answer("ndb_mgm> 2 STATUS")
    assert not play.finished
    play.answer("! until nodes_started 2 within 70min")
    assert play.marks["returned"].points == 25
