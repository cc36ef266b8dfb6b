"""Files that are whole or not there, and that nobody can read who could not before.

    write_atomically(Path("plan.ndbplan"), text.encode(), backup=True)

A file is written beside its place and swapped in. What a killed program leaves beside it is taken away by the
next one that writes there.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ndbplan.base.errors import UserError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
NAME_BYTES_MOST = 255
"""Bytes in one component of a path on common file systems."""
_PREFIX, _SUFFIX = ".ndbplan-", ".part"
_LEFT_BEHIND_S = 60.0
"""A part file that nobody holds is taken away when it is older: one that was just made is not held yet."""


class FileError(UserError):
    """A file that cannot be read or written."""


def write_atomically(
    path: Path,
    content: bytes,
    *,
    backup: bool = False,
    follow_link: bool = True,
    executable: bool = False,
    check: Callable[[bytes], None] = lambda written: None,
) -> None:
    """Write `content` so that the file is either the old or the new one, with the permissions of the old.

    `backup` keeps the old one as `NAME~`. `follow_link` False refuses a link instead of writing where it
    leads; one of another user is refused anyway. `executable`: who may read it may run it.
    `check` gets what was read back, before anything is replaced. Raises FileError, also for a pipe or a
    device, which is left in its place, and what `check` raises; the file is then as it was.
    """
    try:
        if path.is_symlink():
            # The system refuses such a link too where all may write; not who asks first where it leads.
            theirs = not is_ours(path.lstat())
            if theirs or not follow_link:
                whose = " of another user" if theirs else ""
                raise FileError(
                    f"is a link{whose}, and would be written elsewhere", where=str(path), fix="remove it"
                )
            path = path.resolve()
        if is_waited_for(path):
            what = "is not a file, and would be replaced by one"
            raise FileError(what, where=str(path), fix="name another")
        _swap_in(path, content, backup, executable, check)
    except (OSError, RuntimeError) as error:
        # A RuntimeError is a link that leads back to itself.
        why = error.strerror if isinstance(error, OSError) else "its links lead back to themselves"
        raise FileError(
            f"cannot be written ({why}){'; the file before is untouched' if os.path.lexists(path) else ''}",
            where=str(path),
            fix="free space, check the permissions, or save under another name",
        ) from None
    except ValueError as error:
        raise FileError(
            f"is not the name of a file ({error})", where=ascii(str(path)), fix="name another"
        ) from None


def _swap_in(
    target: Path, content: bytes, backup: bool, executable: bool, check: Callable[[bytes], None]
) -> None:
    before = target.stat() if target.exists() else None
    mode = None if before is None else stat.S_IMODE(before.st_mode)
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "the file is read-only")
    remove_left_behind(target.parent)
    part = target.parent / f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"
    # A new file gets what the user's mask allows; one that replaces another begins as the user's alone.
    handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "r+b") as out:
            hold(handle)
            now = stat.S_IMODE(os.fstat(handle).st_mode) if before is None else _as(before, target, handle)
            if before is not None or executable:
                os.fchmod(handle, now | (now & 0o444) >> 2 if executable else now)
            out.write(content)
            out.flush()
            os.fsync(handle)
            out.seek(0)
            check(out.read())
            if backup and mode is not None:
                _keep_backup(target)
            if not os.path.samestat(os.fstat(handle), part.lstat()):
                raise PermissionError(1, "somebody exchanged it while it was written")
            part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    flush_folder(target.parent)


_ACCESS_LIST = "system.posix_acl_access"


def _as(before: os.stat_result, source: Path, handle: int) -> int:
    """Give a new file the owner, the group and the access list of another one; says what mode it gets then.

    Where it cannot have that group or that list, its group may do what everybody may.
    """
    mode, is_same = stat.S_IMODE(before.st_mode), True
    try:
        os.fchown(handle, before.st_uid, before.st_gid)
    except OSError:
        # Only the administrator gives files away.
        try:
            os.fchown(handle, -1, before.st_gid)
        except OSError:
            is_same = False
    if hasattr(os, "getxattr"):
        try:
            listed = os.getxattr(source, _ACCESS_LIST)
        except OSError:
            # The folder may have given the new one a list.
            with suppress(OSError):
                os.removexattr(handle, _ACCESS_LIST)
        else:
            try:
                os.setxattr(handle, _ACCESS_LIST, listed)
            except OSError:
                is_same = False
    return mode if is_same else mode & ~0o070 | (mode & 0o007) << 3


NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
"""For opening a file that is not a link, and that programs started from here do not get."""


def hold(handle: int, *, only_look: bool = False, wait: bool = False) -> bool | None:
    """Mark an open file as held until it is closed or its process ends; False: another holds it.

    `only_look`: whoever else only looks meanwhile does not count. `wait`: until the other lets go. None: its
    file system has no locks, and nobody can tell.
    """
    try:
        import fcntl
    except ImportError:  # pragma: no cover — no such locks on this system
        return None
    try:
        how = fcntl.LOCK_SH if only_look else fcntl.LOCK_EX
        fcntl.flock(handle, how if wait else how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_held(path: Path, *, without_locks: Callable[[], bool] = lambda: True) -> bool:
    """Whether a living process holds a file. Raises OSError when it cannot be opened, or is not a file.

    `without_locks` answers where the file system has no locks.
    """
    # A pipe that somebody has put there would be waited for.
    handle = os.open(path, os.O_RDONLY | NO_LINKS | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "this is not a file")
        held = hold(handle, only_look=True)
    finally:
        os.close(handle)
    return without_locks() if held is None else not held


def is_waited_for(path: Path) -> bool:
    """Whether there is a pipe, a device or a socket, for whose other end a reader may wait for ever."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError, RuntimeError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def read_at_most(path: Path, most_bytes: int, *, of_a_pipe: bool = False) -> bytes | None:
    """The content of a file; None: it is longer. Raises OSError when it cannot be read, or is not a file.

    `of_a_pipe`: also that of a pipe or a device, which may be waited for. Reading stops behind the limit
    whatever it is: a device has no size and no end.
    """
    try:
        if not of_a_pipe and is_waited_for(path):
            raise OSError(errno.EINVAL, "this is not a file")
        with path.open("rb") as source:
            content = source.read(most_bytes + 1)
    except ValueError as error:
        raise OSError(errno.EINVAL, f"no file can have this name: {error}") from None
    return content if len(content) <= most_bytes else None


def read_whole(
    path: Path,
    most_bytes: int,
    *,
    of_a_pipe: bool = False,
    refused: type[UserError] = FileError,
    fix: str = "name a smaller file",
) -> bytes:
    """The content of a file. Raises `refused` when it cannot be read, or is longer: then `fix` helps."""
    from ndbplan.base.units import format_bytes

    try:
        content = read_at_most(path, most_bytes, of_a_pipe=of_a_pipe)
    except OSError as error:
        raise refused(
            f"cannot be read ({error.strerror})", where=str(path), fix="check the name and the permissions"
        ) from None
    if content is None:
        limit = format_bytes(most_bytes)
        raise refused(f"the file has more than {limit}, the most that is read", where=str(path), fix=fix)
    return content


def remove_left_behind(folder: Path) -> None:
    """Take away what programs that no longer run left while they wrote into a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                with suppress(OSError):
                    old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _LEFT_BEHIND_S
                    if old and not is_held(Path(entry.path)):
                        os.unlink(entry.path)


def _keep_backup(target: Path) -> None:
    """The file as it is becomes `NAME~`. Where that cannot be, there is no backup: saving matters more."""
    spare, new = (
        target.with_name(target.name + "~"),
        target.with_name(f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}"),
    )
    with suppress(OSError):
        try:
            _link_or_copy(target, new)
            new.replace(spare)
        finally:
            # Where the backup has been this very file already, nothing was moved.
            with suppress(FileNotFoundError):
                new.unlink()


def _link_or_copy(source: Path, new: Path) -> None:
    try:
        os.link(source, new)
    except OSError:
        content = source.read_bytes()
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS, 0o600), "wb") as out:
            os.fchmod(out.fileno(), _as(source.stat(), source, out.fileno()))
            out.write(content)


def flush_folder(folder: Path) -> None:
    """The new name survives a loss of power too, where folders can be flushed."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def make_private(folder: Path) -> str:
    """Make a folder of the user's alone; says why it is not one. Raises OSError when it cannot be made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    state = folder.lstat()
    if stat.S_ISLNK(state.st_mode):
        return f"{folder} is a symbolic link"
    if not stat.S_ISDIR(state.st_mode):
        return f"{folder} is not a folder"
    if not is_ours(state):
        return f"{folder} belongs to another user"
    if state.st_mode & OTHERS_WRITE:
        return f"others can write into {folder} (mode {stat.S_IMODE(state.st_mode):04o})"
    if stat.S_IMODE(state.st_mode) != 0o700:
        folder.chmod(0o700)
    return ""


def is_ours(found: os.stat_result) -> bool:
    """Whether a file belongs to this user."""
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()
