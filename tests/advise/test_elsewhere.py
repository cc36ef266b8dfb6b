"""What other processes work out is what this one would: the same bytes, in the same order."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from ndbplan.advise import executors, survival, what_matters
from ndbplan.advise.executors import cut
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.sizing import search
from ndbplan.advise.sizing.choices import choices, client_host
from ndbplan.estimate.estimation import Estimation
from ndbplan.importing.requirements import requirements_of
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.bands import monte_carlo


def handed_over(
    function: Callable[[Any], Any], pieces: Sequence[Any], *, workers: int, scheduler: str | None
) -> Iterator[Any]:
    """Another process gets copies, and hands over copies."""
    assert (workers, scheduler) == (3, None)
    assert len(pieces) > workers
    return copied(function, pieces)


def copied(function: Callable[[Any], Any], pieces: Sequence[Any]) -> Iterator[Any]:
    function = pickle.loads(pickle.dumps(function))
    for piece in pieces:
        yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(piece)))))


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Estimation:
    for module in (survival, what_matters):
        monkeypatch.setattr(module, "each_of", handed_over)
    plan = sample_plan("redo-overload-8.4")
    return Estimation(plan, plan.workloads[0])


def test_changes_that_matter(now: Estimation) -> None:
    here = what_matters.what_matters(now, FIGURES["restart"])
    there = what_matters.what_matters(now, FIGURES["restart"], workers=3)
    assert here.changes
    assert there.to_json() == here.to_json()
    assert [row.edit(now.plan) for row in there.changes] == [row.edit(now.plan) for row in here.changes]


@pytest.mark.parametrize("loaded", [True, False])
def test_pairs_that_fail(now: Estimation, loaded: bool) -> None:
    workload: Workload | None = now.workload if loaded else None
    here = survival.survive(now.under(workload), depth=2)
    there = survival.survive(now.under(workload), depth=2, workers=3)
    assert len(here.failures) > 20
    assert there.to_json(why=True) == here.to_json(why=True)


@pytest.mark.parametrize("asked", [{"runs": 7}, {"precision": 0.4}])
def test_many_runs(now: Estimation, asked: dict[str, Any]) -> None:
    here = monte_carlo(now, duration_s=20.0, **asked)

    def elsewhere(function: Callable[[range], list[Any]], numbers: range) -> Iterator[Any]:
        pieces = cut(numbers, 3, None)
        assert len(pieces) > 3
        for some in copied(function, pieces):
            yield from some

    there = monte_carlo(now, duration_s=20.0, elsewhere=elsewhere, **asked)
    assert there.to_json(why=True) == here.to_json(why=True)
    assert there.to_csv() == here.to_csv()


def test_sizing(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = requirements_of(sample_plan("redo-overload-8.4"), most_groups=2)
    begun = (wanted.requirements, wanted.source, wanted.own)
    asked = (wanted.requirements, wanted.begun, choices(*begun)[::12], client_host(*begun))
    here, together = search.size(*asked).to_json(), list[int]()

    def each(function: Callable[[Any], Any], pieces: Sequence[Any]) -> Iterator[Any]:
        together.append(len(pieces))
        return copied(function, pieces)

    monkeypatch.setattr(search, "crew", lambda workers, scheduler: nullcontext(each))
    assert search.size(*asked, workers=2).to_json() == here
    assert max(together) > 2


_LEADS = """
import os, signal
from ndbplan.advise.executors import crew
if __name__ == "__main__":
    with crew(2) as each:
        print(*each(os.path.abspath, ["a", "b"]), flush=True)
        signal.pause()
"""


def test_workers_end_with_the_process_that_began_them_even_when_it_is_killed(tmp_path: Path) -> None:
    """What is printed ends when nobody is left who could print."""
    script = tmp_path / "leads.py"
    script.write_text(_LEADS)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline()
        leader.kill()
        leader.communicate(timeout=60)


def test_others_help_only_where_the_rest_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[int, int]] = []

    def each_of(function: Any, pieces: Any, *, workers: int) -> Any:
        begun.append((len(pieces), workers))
        return map(function, pieces)

    monkeypatch.setattr(executors, "each_of", each_of)
    pieces = list(range(6))
    assert list(executors.helped(2, str, pieces)) == list(map(str, pieces))
    assert begun == []
    now = iter(range(0, 100, 3))
    monkeypatch.setattr(executors, "monotonic", lambda: next(now))
    assert list(executors.helped(1, str, pieces)) == list(map(str, pieces))
    assert begun == []
    assert list(executors.helped(2, str, pieces)) == list(map(str, pieces))
    assert begun == [(5, 2)]
