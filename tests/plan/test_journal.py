"""A journal gives back every edit, wherever it is cut, damaged or broken off."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
from pathlib import Path
from random import Random

import pytest

from edits.test_hostile_names import one_edit
from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.plan import journal
from ndbplan.plan.hardware import Location
from ndbplan.plan.journal import Heading, JournalFile, is_open, read
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.project import Project, Variant
from ndbplan.plan.samples import sample_plan


def _edited(seed: int, count: int) -> list[Plan]:
    """A sample and what it is after each of some edits."""
    random = Random(seed)
    plans = [sample_plan(random.choice(("starter", "disk-data", "add-nodes-8.4")))]
    while len(plans) <= count:
        try:
            after = one_edit(random, plans[-1])
        except UserError:
            continue
        if after is not plans[-1] and after.hosts and after.data_nodes:
            plans.append(after)
    return plans


def _written(folder: Path, plans: list[Plan], path: Path | None = None) -> tuple[Path, list[int]]:
    """A journal of these states, and how long it was after each."""
    log = JournalFile.begin(folder, Heading("shop", path), plans[0])
    sizes = [log.path.stat().st_size]
    for plan in plans[1:]:
        log.append(plan)
        sizes.append(log.path.stat().st_size)
    log.close()
    return log.path, sizes


@pytest.mark.parametrize("seed", range(4))
def test_every_state_is_read_as_it_was(tmp_path: Path, seed: int) -> None:
    plans = _edited(seed, 12)
    path, sizes = _written(tmp_path / "j", plans)
    content = path.read_bytes()
    for plan, size in zip(plans, sizes, strict=True):
        path.write_bytes(content[:size])
        left = read(path)
        assert left is not None
        assert left.plan == plan
        assert left.heading == Heading("shop", None)


@pytest.mark.parametrize("seed", range(4))
def test_every_state_of_variants_is_read_as_it_was(tmp_path: Path, seed: int) -> None:
    """Edits of any variant; variants that come, go, change places, names and notes, several at once."""
    random = Random(seed)
    plans = _edited(seed, 12)
    states = [Project(variants=(Variant(name="A", note="as bought", plan=plans[0]), Variant(plan=plans[1])))]
    for number, plan in enumerate(plans[1:]):
        state = states[-1].with_plan(random.randrange(len(states[-1].variants)), plan)
        variants = list(state.variants)
        for _ in range(number % 4):
            random.shuffle(variants)
            made = Variant(name=f"v{random.random()}", note="n", plan=random.choice(plans))
            variants = random.choice((variants[1:] or variants, [*variants, made], [made, *variants[1:]]))
        states.append(Project(variants=tuple(variants)))
    log = JournalFile.begin(tmp_path / "j", Heading("shop", None), states[0])
    sizes = [log.path.stat().st_size]
    for state in states[1:]:
        log.append(state)
        sizes.append(log.path.stat().st_size)
    log.close()
    content = log.path.read_bytes()
    for state, size in zip(states, sizes, strict=True):
        log.path.write_bytes(content[:size])
        left = read(log.path)
        assert left is not None
        assert left.project == state


def test_cut_at_any_byte_it_holds_all_edits_before(tmp_path: Path) -> None:
    plans = [EMPTY_PLAN]
    for number in range(4):
        plans.append(edits.add(plans[-1], Location(id=f"l{number}", name="表" * number + "x")))
    plans.append(edits.remove(plans[-1], ["l0", "l2"]))
    path, sizes = _written(tmp_path / "j", plans)
    content = path.read_bytes()
    for size in range(len(content) + 1):
        path.write_bytes(content[:size])
        left = read(path)
        whole = sum(1 for one in sizes if one <= size)
        if whole == 0:
            assert left is None
        else:
            assert left is not None
            assert left.plan == plans[whole - 1]


def test_a_damaged_line_ends_it(tmp_path: Path) -> None:
    plans = _edited(5, 4)
    path, sizes = _written(tmp_path / "j", plans)
    content = path.read_bytes()
    random = Random(1)
    for _ in range(60):
        at = random.randrange(len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :])
        left = read(path)
        whole = sum(1 for size in sizes if size <= at)
        assert (left is None) if whole == 0 else (left is not None and left.plan == plans[whole - 1])


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    plan = sample_plan("telecom-144")
    log = JournalFile.begin(tmp_path / "j", Heading("t", None), plan)
    begun = log.path.stat().st_size
    after = edits.update(plan, plan.hosts[7].id, cores=plan.hosts[7].cores + 1)
    log.append(after)
    assert log.path.stat().st_size - begun < 2000
    removed = edits.remove(after, [after.hosts[3].id])
    log.append(removed)
    log.close()
    left = read(log.path)
    assert left is not None
    assert left.plan == removed


def test_a_state_that_no_file_may_hold_costs_only_itself(tmp_path: Path) -> None:
    plan = sample_plan("starter")
    good = edits.update(plan, plan.hosts[0].id, cores=77)
    bad = good.replace(hosts=(good.hosts[0].model_copy(update={"id": "no id!"}), *good.hosts[1:]))
    path, _ = _written(tmp_path / "j", [plan, good, bad])
    left = read(path)
    assert left is not None
    assert left.plan == good


def test_a_plan_that_becomes_empty_and_back(tmp_path: Path) -> None:
    plan = sample_plan("starter")
    bare = edits.remove(plan, [table.id for table in plan.tables])
    path, _ = _written(tmp_path / "j", [plan, EMPTY_PLAN, plan, bare])
    left = read(path)
    assert left is not None
    assert left.plan == bare
    assert not bare.tables


@pytest.mark.parametrize("locks", [True, False])
def test_nobody_else_reads_it_and_it_is_held_while_it_is_open(
    locks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file system has no locks too."""

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    if not locks:
        monkeypatch.setattr(fcntl, "flock", no_locks)
    log = JournalFile.begin(tmp_path / "j", Heading("t", tmp_path / "t.ndbplan"), EMPTY_PLAN)
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert log.path.parent.stat().st_mode & 0o777 == 0o700
    assert is_open(log.path)
    log.close()
    assert not is_open(log.path)
    if not locks:
        # Of another host, nobody here can tell; of a process that is gone, it is open nowhere.
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(platform, "node", lambda: "another")
            assert is_open(log.path)
        assert not is_open(log.path.rename(log.path.with_name("999999999-1.journal")))
    log.remove()
    assert not log.path.exists()


def test_flushed_by_a_thread_while_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = JournalFile.begin(tmp_path / "j", Heading("t", None), EMPTY_PLAN)

    def closed_meanwhile(_handle: int) -> None:
        log.close()
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "fsync", closed_meanwhile)
    log.flush()
    monkeypatch.undo()
    # Closed before: it flushes nothing, and no other file that has its number now.
    log.flush()


def test_a_disk_that_is_full_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = sample_plan("starter")
    after = edits.update(plan, plan.hosts[0].id, cores=77)
    log = JournalFile.begin(tmp_path / "j", Heading("t", None), plan)
    size = log.path.stat().st_size
    write = os.write

    def half(handle: int, content: bytes) -> int:
        if len(content) < 5:
            raise OSError(28, "No space left on device")
        return write(handle, content[: len(content) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        log.append(after)
    monkeypatch.undo()
    assert log.path.stat().st_size == size
    log.append(after)
    left = read(log.path)
    assert left is not None
    assert left.plan == after
    log.close()


@pytest.mark.parametrize(
    "entry",
    [
        "[" * 100_000,
        json.dumps({"at": "yesterday", "plan": {}}),
        json.dumps({"at": "2026-01-01T00:00:00", "plan": 7}),
        json.dumps({"at": "2026-01-01T00:00:00", "changed": {"hosts": [[0, 9]]}}),
        json.dumps({"at": "2026-01-01T00:00:00", "heading": {"name": 1}}),
        json.dumps([1]),
        "\udcff",
    ],
)
def test_what_other_programs_wrote_disturbs_nobody(tmp_path: Path, entry: str) -> None:
    path = tmp_path / f"a{journal.SUFFIX}"
    text = entry.encode("utf-8", "surrogateescape")
    path.write_bytes(b"%08x %s\n" % (journal.crc32(text), text))
    assert read(path) is None


def test_a_journal_that_is_no_journal_of_that_size_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = _written(tmp_path / "j", [EMPTY_PLAN])
    monkeypatch.setattr(journal, "MAX_BYTES", 10)
    assert read(path) is None


def test_what_could_not_be_added_is_in_the_next_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = sample_plan("starter")
    missed = edits.remove(plan, [plan.hosts[-1].id])
    after = edits.add(missed, Location(id="l", name="x"))
    log = JournalFile.begin(tmp_path / "j", Heading("t", None), plan)
    write = os.write

    def half(handle: int, content: bytes) -> int:
        write(handle, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    def refuse(*_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(OSError, match="No space"):
            log.append(missed)
    left = read(log.path)
    assert left is not None
    assert left.plan == plan
    log.append(after)
    log.close()
    left = read(log.path)
    assert left is not None
    assert left.plan == after


def test_a_time_on_another_place_of_the_earth_is_compared_with_others(tmp_path: Path) -> None:
    from ndbplan.desktop.document.recovery import crashed

    first, _ = _written(tmp_path, [EMPTY_PLAN])
    second, _ = _written(tmp_path, [EMPTY_PLAN])
    entry = json.loads(second.read_bytes().split(b" ", 1)[1])
    text = json.dumps({**entry, "at": "2026-01-01T00:00:00+02:00"}).encode()
    second.write_bytes(b"%08x %s\n" % (journal.crc32(text), text))
    assert {one.journal for one in crashed(tmp_path)} == {first, second}
