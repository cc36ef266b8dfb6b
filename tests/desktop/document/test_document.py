"""The document: undo returns the identical plan, equal keys merge, files come and go."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection
from ndbplan.edits import parts as edits
from ndbplan.edits import variants
from ndbplan.edits.validated import EditError
from ndbplan.plan.file import PlanFileError
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

HOST = Host(id="host-a1", hostname="host-a1", memory_bytes=64_000_000_000)


def test_undo_and_redo_give_back_the_identical_plans(qtbot) -> None:
    document = Document()
    seen = []
    document.changed.connect(lambda before, after: seen.append((before, after)))
    document.edit("Add host-a1", lambda plan: edits.add(plan, HOST))
    grown = document.plan
    document.undo_stack.undo()
    assert document.plan is EMPTY_PLAN
    document.undo_stack.redo()
    assert document.plan is grown
    assert seen == [(EMPTY_PLAN, grown), (grown, EMPTY_PLAN), (EMPTY_PLAN, grown)]
    assert document.undo_stack.undoText() == "Add host-a1"


def test_steps_with_one_key_become_one_until_the_merge_ends(qtbot) -> None:
    document = Document(edits.add(EMPTY_PLAN, HOST))
    start = document.plan
    for cores in (9, 10, 11):
        document.edit("Set cores", lambda p, c=cores: edits.update(p, "host-a1", cores=c), "host-a1.cores")
    assert document.undo_stack.count() == 1
    document.end_merge()
    document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=12), "host-a1.cores")
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert document.plan.host("host-a1").cores == 11
    document.undo_stack.undo()
    assert document.plan is start


def test_an_edit_that_fails_or_changes_nothing_leaves_no_trace(qtbot) -> None:
    document = Document(edits.add(EMPTY_PLAN, HOST))
    plan = document.plan
    with pytest.raises(EditError):
        document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=0))
    assert not document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=8))
    assert document.plan is plan
    assert not document.is_modified


def test_saving_makes_clean_and_undo_past_it_dirty(qtbot, tmp_path: Path) -> None:
    document = Document()
    document.edit("Add", lambda plan: edits.add(plan, HOST))
    assert document.is_modified
    document.save(tmp_path / "a.ndbplan")
    assert not document.is_modified
    assert document.title == "a.ndbplan"
    document.undo_stack.undo()
    assert document.is_modified
    other = Document()
    other.open(tmp_path / "a.ndbplan")
    assert other.plan.host("host-a1") == HOST
    assert not other.is_modified


def test_a_failed_open_or_save_leaves_the_document_as_it_is(qtbot, tmp_path: Path) -> None:
    document = Document()
    document.edit("Add", lambda plan: edits.add(plan, HOST))
    plan = document.plan
    with pytest.raises(PlanFileError):
        document.open(tmp_path / "missing.ndbplan")
    with pytest.raises(PlanFileError):
        document.save(tmp_path / "missing" / "a.ndbplan")
    assert document.plan is plan
    assert document.path is None
    assert document.is_modified


def test_a_recovered_plan_counts_as_unsaved(qtbot, tmp_path: Path) -> None:
    document = Document()
    document.recover(edits.add(EMPTY_PLAN, HOST), tmp_path / "a.ndbplan")
    assert document.is_modified
    document.save()
    assert not document.is_modified
    assert (tmp_path / "a.ndbplan").exists()


def test_the_selection_forgets_what_leaves_the_plan(qtbot) -> None:
    document = Document()
    document.edit("Add", lambda plan: edits.add(plan, HOST))
    selection = Selection(document)
    selection.set(["host-a1"])
    document.undo_stack.undo()
    assert selection.ids == ()


def test_selecting_more_keeps_the_order_and_the_current_one(qtbot) -> None:
    selection = Selection(Document())
    selection.set(["a", "b", "a"])
    assert selection.ids == ("a", "b")
    selection.add(["c", "a"])
    assert selection.ids == ("b", "c", "a")
    assert selection.current == "a"
    selection.toggle("a")
    selection.toggle("d")
    assert selection.ids == ("b", "c", "d")


def test_a_plan_that_nobody_named_is_called_like_its_file(tmp_path) -> None:
    from ndbplan.exporting.export import render_files
    from ndbplan.plan.samples import sample_plan

    document = Document(sample_plan("starter").replace(name=EMPTY_PLAN.name))
    document.save(tmp_path / "shop-cluster.ndbplan")
    assert document.plan.name == "shop-cluster"
    assert not document.is_modified
    assert "shop-cluster" in render_files(document.plan, ["config"])["config.ini"]
    document.save(tmp_path / "other.ndbplan")
    assert document.plan.name == "shop-cluster", "a name that somebody gave stays"
    document.undo_stack.undo()
    assert document.plan.name == EMPTY_PLAN.name


def test_a_file_name_that_no_plan_can_have_leaves_it_unnamed(tmp_path) -> None:
    document = Document(EMPTY_PLAN)
    path = tmp_path / ("x" * 200 + ".ndbplan")
    document.save(path)
    assert document.plan.name == EMPTY_PLAN.name
    assert path.exists()


def test_a_pipe_is_refused_and_stays_a_pipe(tmp_path) -> None:
    """The window would stand still until somebody writes into it."""
    pipe = tmp_path / "a.ndbplan"
    os.mkfifo(pipe)
    document = Document(sample_plan("starter"))
    for act in (document.open, document.save):
        with pytest.raises(PlanFileError, match="is not a file"):
            act(pipe)
    assert pipe.is_fifo()


# Variants


def cores(document: Document) -> list[int]:
    return [variant.plan.host("host-a1").cores for variant in document.project.variants]


def set_cores(document: Document, count: int) -> None:
    document.edit("Set cores", lambda plan: edits.update(plan, "host-a1", cores=count), "host-a1.cores")


@pytest.fixture
def two(qtbot) -> Document:
    """A document with two variants of a host, the second is shown."""
    document = Document(edits.add(EMPTY_PLAN, HOST))
    document.edit_variants("New variant", lambda project: variants.added(project, "B", 0))
    set_cores(document, 48)
    return document


def test_undo_shows_the_variant_of_the_step(two: Document) -> None:
    two.show_variant(0)
    set_cores(two, 4)
    two.show_variant(1)
    set_cores(two, 64)
    assert cores(two) == [4, 64]
    two.undo_stack.undo()
    assert (cores(two), two.shown) == ([4, 48], 1)
    two.undo_stack.undo()
    assert (cores(two), two.shown) == ([8, 48], 0)
    two.undo_stack.undo()
    assert (cores(two), two.shown) == ([8, 8], 1)
    two.undo_stack.undo()
    assert two.project.names == ("Main",)
    while two.undo_stack.canRedo():
        two.undo_stack.redo()
    assert (cores(two), two.shown) == ([4, 64], 1)


def test_to_show_another_variant_is_no_step_and_shares_what_is_equal(two: Document) -> None:
    seen = []
    two.changed.connect(lambda before, after: seen.append((before, after)))
    steps = two.undo_stack.count()
    plans = [variant.plan for variant in two.project.variants]
    two.show_variant(0)
    two.show_variant(0)
    assert seen == [(plans[1], plans[0])]
    assert two.undo_stack.count() == steps
    assert plans[0].parameters is plans[1].parameters


def test_variants_are_named_ordered_and_removed_with_undo(two: Document) -> None:
    told = []
    two.variants_changed.connect(lambda: told.append((two.project.names, two.shown)))
    two.edit_variants("Rename", lambda project: variants.renamed(project, 1, "C"))
    two.edit_variants("Promote", lambda project: variants.promoted(project, 1))
    two.edit_variants("Remove", lambda project: variants.removed(project, 0))
    assert not two.edit_variants("Promote", lambda project: variants.promoted(project, 0))
    with pytest.raises(EditError):
        two.edit_variants("Remove", lambda project: variants.removed(project, 0))
    two.undo_stack.undo()
    assert told == [(("Main", "C"), 1), (("C", "Main"), 0), (("Main",), 0), (("C", "Main"), 0)]
    assert two.plan.host("host-a1").cores == 48


def test_an_edit_becomes_a_variant_and_leaves_the_plan_as_it_was(two: Document) -> None:
    plan = two.plan
    name = two.edit_as_variant("B", lambda p: edits.update(p, "host-a1", cores=96), "what would help")
    assert (name, two.project.names, two.shown) == ("B 2", ("Main", "B", "B 2"), 2)
    assert cores(two) == [8, 48, 96]
    assert two.project.variants[1].plan is plan
    with pytest.raises(EditError):
        two.edit_as_variant("D", lambda p: edits.update(p, "host-a1", cores=0))
    two.undo_stack.undo()
    assert (two.project.names, two.plan) == (("Main", "B"), plan)


def test_all_variants_are_saved_and_opened(two: Document, tmp_path: Path) -> None:
    two.save(tmp_path / "a.ndbplan")
    assert not two.is_modified
    two.show_variant(0)
    assert not two.is_modified
    other = Document()
    other.open(tmp_path / "a.ndbplan")
    assert other.project == two.project
    assert (other.shown, cores(other)) == (0, [8, 48])
    assert {variant.plan.name for variant in other.project.variants} == {"a"}
    other.take_from_file(sample_plan("starter"))
    assert other.project.names == ("Main",)
    other.undo_stack.undo()
    assert cores(other) == [8, 48]


def _act(document: Document, random: Random) -> None:
    """One thing that a user does to a document with variants, wherever it is shown."""
    count = len(document.project.variants)
    place, to = random.randrange(count), random.randrange(count)
    acts: list[Callable[[], object]] = [
        lambda: document.show_variant(place),
        lambda: set_cores(document, random.randrange(1, 99)),
        lambda: document.edit("More memory", lambda p: edits.update(p, "host-a1", memory_bytes=to + 2**30)),
        document.end_merge,
        lambda: document.edit_variants("New", lambda p: variants.added(p, f"{random.random()}", place)),
        lambda: document.edit_variants("Rename", lambda p: variants.renamed(p, place, f"{random.random()}")),
        lambda: document.edit_variants("Promote", lambda p: variants.promoted(p, place)),
        lambda: document.edit_variants("Move", lambda p: variants.moved(p, place, to)),
        lambda: document.edit_variants("Remove", lambda p: variants.removed(p, place)),
        lambda: document.edit_as_variant("Tried", lambda p: edits.update(p, "host-a1", cores=99 + to)),
    ]
    with suppress(EditError):
        random.choice(acts)()


@pytest.mark.parametrize("seed", range(40))
def test_undo_goes_back_through_all_variants_step_by_step_and_redo_forth(two: Document, seed: int) -> None:
    random, stack = Random(seed), two.undo_stack
    states = {stack.index(): two.project}
    for _ in range(40):
        _act(two, random)
        # What is merged into a step before takes its place.
        states[stack.index()] = two.project
        if random.random() < 0.1 and stack.canUndo():
            stack.undo()
            assert two.project == states.setdefault(stack.index(), two.project)
    while stack.canUndo():
        stack.undo()
        assert two.project == states.setdefault(stack.index(), two.project)
    while stack.canRedo():
        stack.redo()
        assert two.project == states[stack.index()]
        assert two.plan is two.project.variants[two.shown].plan
