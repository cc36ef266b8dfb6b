"""Before a live cluster: what is seen of it, time that flows, breakpoints, branches, lessons that flow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.describe.overlay import State
from ndbplan.train.at_work import INTERRUPTED, UNDER_WAY
from ndbplan.train.completion import offered
from ndbplan.train.consoles import MGM, WORLD, Consoles
from ndbplan.train.lessons.files import LESSONS, Read
from ndbplan.train.lessons.play import Play, lines_of_route
from ndbplan.train.lessons.progress import progress
from ndbplan.train.lessons.result import outcome, page
from ndbplan.train.live import LiveCluster
from ndbplan.train.prompts import SQL
from ndbplan.train.seat import MOST_BRANCHES, MOST_BREAKPOINTS, Seat
from ndbplan.train.sight import sight
from ndbplan.train.sql.waiting import STOPPED


@pytest.fixture
def seat(cluster: LiveCluster) -> Seat:
    return Seat(Consoles(cluster))


def test_a_sight_says_what_the_moment_of_the_whole_result_says(seat: Seat) -> None:
    for line in ("! load x2", "! slow disk:data1/redo 30%", "! kill node:4", "! wait 20s"):
        seat.answer(line)
    # At the end of what is recorded together both see the same.
    seen, whole = sight(seat.cluster).moment, seat.cluster.moment()
    for name in ("disk_speed", "starting", "stopped", "stands_still", "reorganised"):
        assert getattr(seen, name) == getattr(whole, name), name
    assert seen.disk_utilisation == pytest.approx(whole.disk_utilisation, abs=1e-9)
    assert seen.accepted_per_s == pytest.approx(whole.accepted_per_s)
    assert {i for i in whole.down if i in seat.cluster.plan.by_id} == set(seen.down)
    # The result has what stood there before the last step drained it.
    assert seen.redo_buffer_fill == pytest.approx(whole.redo_buffer_fill, abs=0.01)
    assert seen.redo_log_fill == pytest.approx(whole.redo_log_fill, abs=0.01)


def test_states_are_those_of_the_processes(seat: Seat) -> None:
    plan = seat.cluster.plan
    ids = {node.node_id: node.id for node in plan.data_nodes}
    assert sight(seat.cluster).states == {}
    seat.answer("! hang node:4")
    assert sight(seat.cluster).states[ids[4]] == State("silent", "error")
    for line in ("! kill node:4", "! wait 10s", "data2$ ndbmtd", "! wait 4s"):
        seat.answer(line)
    seen = sight(seat.cluster)
    phase = seat.cluster.state.nodes[4].phase
    assert seen.states[ids[4]] == State(f"phase {phase}", "warning")
    assert ids[4] in seen.moment.down, "its rows are not there yet"
    seat.answer("ndb_mgm> ENTER SINGLE USER MODE 49")
    seat.answer("! cut link:data1/data3")
    seen = sight(seat.cluster)
    assert {plan.host(i).hostname for one in seen.moment.links for i in one.link.here | one.link.there} == {
        "data1",
        "data3",
    }


def test_lines_of_one_moment_are_written_one_behind_the_other(seat: Seat) -> None:
    for line in ("ndb_mgm> SHOW", "! load x2", "! wait 2s", "ndb_mgm> SHOW"):
        seat.answer(line)
    typed = [line for line in seat.transcript().splitlines() if not line.startswith("#")]
    assert typed[2:] == ["ndb_mgm> SHOW", "! load x2", "! wait 2s", "ndb_mgm> SHOW"]


def test_how_time_flows_changes_nothing_and_a_breakpoint_stops_where_it_begins(
    begun: Callable[[str], LiveCluster],
) -> None:
    one, other = Seat(Consoles(begun("8.4.8"))), Seat(Consoles(begun("8.4.8")))
    for seat in (one, other):
        seat.answer("! slow disk:data1/redo 5%")
        seat.answer("! load x4")
    one.stop_when("redo_buffer 50%")
    passed_s = one.flow(600.0)
    assert one.stopped_by.startswith("redo_buffer 50%")
    assert 0 < passed_s < 600
    until = other.answer("! until redo_buffer 50%")
    assert "not reached" not in until
    assert other.cluster.now_s == pytest.approx(one.cluster.now_s)
    assert one.flow(1.0) == pytest.approx(1.0), "it stops when it begins to be so, not while it is"
    other.flow(1.0)
    assert sight(one.cluster) == sight(other.cluster)
    one.forget("redo_buffer 50%")
    assert one.breakpoints == ()


def test_a_breakpoint_that_is_reached_while_a_line_is_answered_is_told(seat: Seat) -> None:
    """A wait goes on to its end; what was reached meanwhile is said then."""
    seat.answer("! slow disk:data1/redo 5%")
    seat.answer("! load x4")
    seat.stop_when("redo_buffer 50%")
    seat.answer("mysql> select 1")
    assert seat.stopped_by == ""
    seat.answer("! wait 60s")
    assert seat.stopped_by.startswith("redo_buffer 50%")
    assert seat.flow(1.0) == pytest.approx(1.0)
    assert seat.stopped_by == ""


_COPIES = "ALTER TABLE blobs_5k ADD COLUMN y INT NOT NULL DEFAULT 3, ALGORITHM=COPY"


def _news(seat: Seat) -> dict[str, str]:
    return dict(seat.played.news())


def test_a_statement_that_lasts_holds_up_its_own_client_alone(seat: Seat) -> None:
    seat.answer("mysql> use test;")
    begin_s = seat.cluster.now_s
    assert seat.answer(f"mysql> {_COPIES}; SELECT 7;") == UNDER_WAY
    assert seat.cluster.now_s == begin_s, "nobody waited"
    seat.flow(1.0)
    assert "has been at this for 1.0 s:\n  ALTER TABLE" in seat.answer("mysql> select 1;")
    assert "copy to tmp table" in seat.answer("mysql2> SHOW PROCESSLIST;")
    assert "y" not in seat.answer("mysql2> DESC test.blobs_5k;").split()
    assert "Cluster Configuration" in seat.answer("ndb_mgm> SHOW")
    assert not _news(seat)
    seat.flow(3600.0)
    assert "rows affected (" in (said := _news(seat)["mysql>"])
    assert "| 7 |" in said, "what stood behind it"
    assert "y" in seat.answer("mysql2> DESC test.blobs_5k;").split()
    assert "1 row in set" in seat.answer("mysql> select 1;")


def test_what_was_typed_while_others_waited_plays_again(
    seat: Seat, begun: Callable[[str], LiveCluster]
) -> None:
    for line in (
        "mysql> use test;",
        f"mysql> {_COPIES};",
        "ndb_mgm> 4 STOP",
        "data1$ ndb_mgm -e 'ALL STATUS'",
    ):
        seat.answer(line)
        seat.flow(0.3)
    seat.flow(8.0)
    lines = seat.transcript().splitlines()
    assert lines[0] == "! apart"
    again = begun("8.4.8")
    again.rewind(0.0)
    start = Consoles(again)
    for line in lines:
        if line and not line.startswith("#"):
            start.answer(line)
    again.advance(seat.cluster.now_s - again.now_s)
    assert again.log_text() == seat.cluster.log_text()
    assert again.state.ids == seat.cluster.state.ids


def test_ctrl_c_ends_what_copies_and_leaves_the_table_as_it_was(seat: Seat) -> None:
    seat.answer("mysql> use test;")
    seat.answer(f"mysql> {_COPIES};")
    until_s = seat.cluster.state.running[1].until_s
    assert until_s is not None
    seat.flow(1.0)
    assert seat.answer("mysql> ^C") == f"{INTERRUPTED}{STOPPED.line}\n"
    assert "1 row in set" in seat.answer("mysql> select 1;")
    seat.flow(until_s - seat.cluster.now_s + 1.0)
    assert "y" not in seat.answer("mysql> DESC blobs_5k;").split()
    assert seat.answer(f"mysql> {_COPIES};") == UNDER_WAY, "another change may begin"


def test_ctrl_c_ends_a_wait_for_a_lock(seat: Seat) -> None:
    seat.answer("mysql> BEGIN; UPDATE test.blobs_5k SET data1 = 'x' WHERE id = 1;")
    said = seat.answer("mysql2> UPDATE test.blobs_5k SET data1 = 'y' WHERE id = 1;")
    assert said.startswith("(it waits for")
    assert seat.answer("mysql2> ^C") == INTERRUPTED
    seat.flow(0.2)
    assert _news(seat) == {"mysql2>": f"{STOPPED.line}\n"}
    assert "1 row in set" in seat.answer("mysql2> select 1;")


def test_ctrl_c_ends_the_management_client_and_not_what_it_asked_for(seat: Seat) -> None:
    assert seat.answer("ndb_mgm> 4 STOP").endswith(UNDER_WAY)
    assert "has been at this for 0.0 s:\n  4 STOP" in seat.answer("ndb_mgm> SHOW")
    assert seat.answer("ndb_mgm> ^C") == "^C\n"
    seat.flow(60.0)
    assert "not connected" in seat.answer("ndb_mgm> 4 STATUS")


def test_a_statement_under_way_goes_on_in_a_branch_and_is_gone_before_its_begin(seat: Seat) -> None:
    begin_s = seat.cluster.now_s
    seat.flow(2.0)
    seat.answer("mysql> select sleep(5);")
    seat.flow(1.0)
    seat.branch()
    seat.flow(5.0)
    assert "sleep(5)" in _news(seat)["mysql>"]
    seat.go_to(0)
    assert "has been at" in seat.answer("mysql> select 1;")
    seat.answer(f"! rewind to {begin_s:g}s")
    assert "1 row in set" in seat.answer("mysql> select 1;")
    seat.flow(20.0)
    assert not _news(seat)


def test_breakpoints_and_branches_have_an_end_and_say_so(seat: Seat) -> None:
    with pytest.raises(UserError, match="no data node '9'"):
        seat.stop_when("node:9 < 1")
    for number in range(MOST_BREAKPOINTS):
        seat.stop_when(f"refused > {number}")
    with pytest.raises(UserError, match="breakpoints"):
        seat.stop_when("refused > 99")
    before = sight(seat.cluster)
    for _ in range(MOST_BRANCHES - 1):
        seat.branch()
    with pytest.raises(UserError, match="branches"):
        seat.branch()
    seat.answer("! kill node:3")
    seat.flow(2.0)
    seat.go_to(0)
    assert sight(seat.cluster) == before


@pytest.fixture(scope="module")
def source() -> Iterator[Read]:
    with keeping():
        yield LESSONS.find("redo-overload")


def test_a_lesson_in_which_time_flows_is_the_page_of_the_lines_that_it_wrote(source: Read) -> None:
    play = Play(source.value, source.value.starts[0], "Ann")
    seat = Seat(play)
    assert progress(play).stages[0] == source.value.stages[0].name
    with pytest.raises(UserError, match="one course"):
        seat.branch()
    for line in lines_of_route(play, 0):
        seat.flow(0.7)
        seat.answer(line)
    seat.flow(3600.0)
    assert seat.is_over
    now = progress(play)
    assert now.is_finished
    assert now.score == play.score() > 90
    again = Play(source.value, source.value.starts[0], "Ann")
    again.cluster.apart = True
    for step in play.steps:
        again.answer(step.line)
    assert page(outcome(again, source.source)) == page(outcome(play, source.source))


def test_words_are_offered_for_the_console_in_front_or_the_one_that_is_named(cluster: LiveCluster) -> None:
    plan = cluster.plan
    assert "SHOW" in offered("sh", MGM, plan).words
    assert offered("SHOW TA", SQL, plan).common == "SHOW TABLES FROM ndbinfo;"
    found = offered("data1$ io", MGM, plan)
    assert (found.typed, found.words) == ("io", ("iostat",))
    assert offered("until redo_", WORLD, plan).common == "until redo_"
    assert offered("", MGM, plan).words == ()
