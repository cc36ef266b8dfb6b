"""A file is the old or the new one, and nobody reads it who could not before."""

from __future__ import annotations

import os
import time
from pathlib import Path
from struct import pack
from unittest.mock import Mock

import pytest

from ndbplan.base.files import FileError, hold, read_at_most, remove_left_behind, write_atomically


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664])
def test_the_permissions_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"1")
    path.chmod(mode)
    write_atomically(path, b"2", backup=True)
    assert path.stat().st_mode & 0o777 == mode
    assert (tmp_path / "a~").stat().st_mode & 0o777 == mode
    assert ((tmp_path / "a~").read_bytes(), path.read_bytes()) == (b"1", b"2")
    assert sorted(os.listdir(tmp_path)) == ["a", "a~"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")
@pytest.mark.parametrize("has_links", [True, False])
def test_owner_and_group_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool) -> None:
    """Otherwise the file would be the group's of whoever saves it, with the rights of the group before."""
    if not has_links:
        monkeypatch.setattr(os, "link", Mock(side_effect=OSError))
    path = tmp_path / "a"
    path.write_bytes(b"1")
    os.chown(path, 4711, 4712)
    path.chmod(0o640)
    write_atomically(path, b"2", backup=True)
    for found in (path.stat(), (tmp_path / "a~").stat()):
        assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (4711, 4712, 0o640)


@pytest.mark.parametrize(("mode", "left"), [(0o660, 0o600), (0o664, 0o644), (0o640, 0o600)])
def test_another_group_may_no_more_than_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, left: int
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(mode)
    monkeypatch.setattr(os, "fchown", Mock(side_effect=PermissionError))
    write_atomically(path, b"2")
    assert path.stat().st_mode & 0o777 == left


def test_the_access_list_stays_and_that_of_the_folder_is_not_taken(tmp_path: Path) -> None:
    """One user more may read; the group may not, though the mode looks like it."""
    path, nobody = tmp_path / "a", 0xFFFFFFFF
    path.write_bytes(b"1")
    entries = ((1, 6, nobody), (2, 4, 4711), (4, 0, nobody), (16, 4, nobody), (32, 0, nobody))
    listed = pack("<I", 2) + b"".join(pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(path, "system.posix_acl_access", listed)
        os.setxattr(tmp_path, "system.posix_acl_default", listed)
    except OSError:
        pytest.skip("this file system has no access lists")
    write_atomically(path, b"2")
    assert os.getxattr(path, "system.posix_acl_access") == listed
    os.removexattr(path, "system.posix_acl_access")
    path.chmod(0o640)
    write_atomically(path, b"3")
    assert "system.posix_acl_access" not in os.listxattr(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_new_file_follows_the_mask_of_the_user(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"1")
        write_atomically(tmp_path / "b", b"1", executable=True)
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750


def test_it_is_never_readable_by_others_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o600)
    seen = []
    sync = os.fsync

    def look(handle: int) -> None:
        seen.extend((tmp_path / name).stat().st_mode & 0o077 for name in os.listdir(tmp_path))
        sync(handle)

    monkeypatch.setattr(os, "fsync", look)
    write_atomically(path, b"2")
    assert len(seen) >= 2
    assert not any(seen)


def test_a_file_exchanged_while_it_is_written_is_not_swapped_in(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"mine")
    path.chmod(0o600)

    def attack(_written: bytes) -> None:
        (part,) = (p for p in tmp_path.iterdir() if p != path)
        part.unlink()
        part.write_bytes(b"theirs")
        part.chmod(0o666)

    with pytest.raises(FileError, match="exchanged"):
        write_atomically(path, b"new", check=attack)
    assert path.read_bytes() == b"mine"
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_written_is_looked_at_before_it_replaces_anything(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def refuse(written: bytes) -> None:
        assert written == b"new"
        raise FileError("no")

    with pytest.raises(FileError, match="no"):
        write_atomically(path, b"new", backup=True, check=refuse)
    assert os.listdir(tmp_path) == ["a"]
    assert path.read_bytes() == b"old"


def test_links(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("real")
    with pytest.raises(FileError, match="is a link"):
        write_atomically(link, b"new", follow_link=False)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(FileError, match="loop"):
        write_atomically(loop, b"new")


def test_a_folder_in_the_place_of_the_backup_does_not_stop_a_save(tmp_path: Path) -> None:
    (tmp_path / "a~").mkdir()
    (tmp_path / "a").write_bytes(b"old")
    write_atomically(tmp_path / "a", b"new", backup=True)
    assert (tmp_path / "a").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["a", "a~"]


def test_where_there_are_no_hard_links_the_backup_is_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new", backup=True)
    assert (tmp_path / "a~").read_bytes() == b"old"
    assert (tmp_path / "a~").stat().st_mode & 0o777 == 0o640


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    for name in ("a\0b", "a" * 300, "\udcff\0"):
        with pytest.raises(FileError):
            write_atomically(tmp_path / name, b"1")
    # Bytes that are no UTF-8 are a name all the same.
    write_atomically(tmp_path / "\udcff", b"1", backup=True)
    write_atomically(tmp_path / ("b" * 254), b"1", backup=True)
    assert os.listdir(os.fsencode(tmp_path)).count(b"\xff") == 1


def test_what_a_killed_program_left_goes_with_the_next_write(tmp_path: Path) -> None:
    old, young, other = (tmp_path / name for name in (".ndbplan-1.part", ".ndbplan-2.part", ".mine.part"))
    held = tmp_path / ".ndbplan-3.part"
    for path in (old, young, other, held):
        path.write_bytes(b"1")
    hour_ago = time.time() - 3600
    for path in (old, other, held):
        os.utime(path, (hour_ago, hour_ago))
    with held.open("rb") as handle:
        assert hold(handle.fileno())
        write_atomically(tmp_path / "a", b"1")
        assert not old.exists()
        assert young.exists()
        assert other.exists()
        assert held.exists()
    remove_left_behind(tmp_path)
    assert not held.exists()
    remove_left_behind(tmp_path / "missing")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give links to another user")
def test_a_link_that_another_user_put_there_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"old")
    (tmp_path / "out").symlink_to("mine")
    os.chown(tmp_path / "out", 65534, 65534, follow_symlinks=False)
    with pytest.raises(FileError, match="link of another user"):
        write_atomically(tmp_path / "out", b"new")
    assert (tmp_path / "mine").read_bytes() == b"old"


def test_a_pipe_with_the_name_of_a_part_is_not_waited_for(tmp_path: Path) -> None:
    planted = tmp_path / ".ndbplan-0123.part"
    os.mkfifo(planted)
    os.utime(planted, (1, 1))
    write_atomically(tmp_path / "a", b"1")
    assert planted.exists()


def test_reading_stops_behind_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_at_most(tmp_path / "a", 5) == b"12345"
    assert read_at_most(tmp_path / "a", 4) is None
    assert read_at_most(Path("/dev/zero"), 1000, of_a_pipe=True) is None
    with pytest.raises(OSError, match="no file can have this name"):
        read_at_most(tmp_path / "a\0", 5)


def test_a_pipe_is_neither_waited_for_nor_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "a"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is not a file"):
        write_atomically(pipe, b"1")
    with pytest.raises(OSError, match="this is not a file"):
        read_at_most(pipe, 5)
    assert pipe.is_fifo()
    writer = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    os.write(writer, b"123456")
    assert read_at_most(pipe, 5, of_a_pipe=True) is None
    os.close(writer)
