"""Machine code that the program compiles for itself: kept in one private folder, checked before it is loaded.

numba unpickles what it finds in its folder, so whoever can write there runs code as the user, and a file that
was cut may crash the program. So the folder is the user's alone (0700, no link), and every file in it has the
checksum it had when it was compiled. A folder that others can write into is refused: what is compiled then
lasts as long as the process.

Code is compiled for a level of processors, not for the one at hand: it serves each machine of that level.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

from ndbplan.base.files import OTHERS_WRITE, is_ours, is_waited_for, make_private

F = TypeVar("F", bound=Callable[..., Any])

_SUMS = "checksums.json"
_LOCK = "lock"
_READY = ".ready"
_CODE = (".nbi", ".nbc")
"""What numba calls its files."""
_LEVEL_3 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"})
"""What a processor of level 3 has more than one of level 2 (x86-64 psABI, as /proc/cpuinfo calls it)."""


@dataclass(frozen=True)
class Place:
    """Where compiled code is kept; `refusal` says why the wanted folder is not used."""

    folder: Path
    refusal: str = ""


def wanted_dir() -> Path:
    """Folder that all compiled code belongs in, whether it can be written or not."""
    stated = os.environ.get("NUMBA_CACHE_DIR")
    if stated:
        return Path(stated)
    from platformdirs import user_cache_path

    return user_cache_path("ndbplan") / "compiled"


def place_for(name: str) -> Place:
    """A private folder of this name within the wanted one; otherwise one that goes with the process."""
    import tempfile

    stated = "NUMBA_CACHE_DIR" in os.environ
    candidates = [wanted_dir()]
    if not stated:
        user = os.getuid() if hasattr(os, "getuid") else 0
        candidates.append(Path(tempfile.gettempdir()) / f"ndbplan-compiled-{user}")
    refusal = ""
    for parent in candidates:
        try:
            # A stated folder may be shared; what counts is the one in it that the code lies in.
            refusal = ("" if stated else make_private(parent)) or make_private(parent / name)
            if refusal:
                break
            with tempfile.TemporaryFile(dir=parent / name):
                return Place(parent / name)
        except OSError as error:
            refusal = f"{parent} cannot be written ({error.strerror})"
    return Place(_passing_folder(), refusal)


@cache
def _passing_folder() -> Path:
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="ndbplan-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def processor() -> str:
    """The level of processors that code is compiled for, by the name that LLVM gives it.

    Measured on a processor with AVX-512: level 2 runs the simulation as quickly as code for that very
    processor, and hashes 31 million keys/s; level 3, with AVX2, hashes 66 (its own code 95). Every processor
    on which numpy's wheels run has level 2.
    """
    import platform

    stated = os.environ.get("NUMBA_CPU_NAME")
    if stated:
        return stated
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "generic"
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "x86-64-v2"
    line = next((line for line in flags.splitlines() if line.startswith("flags")), "")
    return "x86-64-v3" if set(line.split()) >= _LEVEL_3 else "x86-64-v2"


def key_of(name: str, sources: Iterable[Path]) -> str:
    """Name of the folder for the code of these sources, these libraries and this kind of processor."""
    import hashlib
    import platform
    import sys
    from importlib.metadata import version

    source = hashlib.sha256()
    for path in sources:
        source.update(path.read_bytes())
    libraries = [version(library) for library in ("numba", "llvmlite", "numpy")]
    source.update("|".join((sys.version, *libraries, platform.system(), processor())).encode())
    return f"{name}-{source.hexdigest()[:20]}"


class CompiledCode:
    """The machine code of some sources: what is ready, and how it is loaded."""

    def __init__(self, name: str, sources: Sequence[Path]) -> None:
        self._name, self._sources = name, sources
        self._keeps_all = True

    @cached_property
    def _place(self) -> Place:
        return place_for(key_of(self._name, self._sources))

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return self._place.folder

    @property
    def refusal(self) -> str:
        """Why it is not kept longer than this process; empty when it is."""
        return self._place.refusal

    def is_ready(self, *marks: str) -> bool:
        """Whether all that goes by these marks has been compiled and is unharmed. Imports no compiler."""
        return all(self._stamp(mark).exists() for mark in marks) and not self._unsound()

    @property
    def functions(self) -> int:
        """How many functions have been compiled so far, by whichever process."""
        return len({path.name.partition("-")[0] for path in self.folder.rglob("*.nbc")})

    @contextmanager
    def loading(self, *marks: str) -> Iterator[None]:
        """What of these sources is compiled from now on is kept here; what is here and unharmed is loaded.

        Their modules are imported before. One process does so at a time, others wait. At the end all goes by
        the marks too.
        """
        import atexit

        self._remove_what_is_no_file()
        with self._alone():
            self._remove_unsound()
            self._keep()
            yield
            with suppress(OSError):
                self._seal(marks)
        # Some functions are compiled later, when they are called with other types.
        atexit.register(self.seal, waits=False)

    def _keep(self) -> None:
        """Let the functions of these sources keep their code here, whoever has imported them."""
        import numba

        settings: Any = numba.config
        sources = {os.path.realpath(path) for path in self._sources}
        with _choosing:
            before, settings.CACHE_DIR = settings.CACHE_DIR, os.fspath(self.folder)
            try:
                for function in _functions:
                    if os.path.realpath(function.py_func.__code__.co_filename) in sources:
                        function.enable_caching()
                        if self.folder not in Path(function.stats.cache_path).parents:
                            # Where this folder cannot be written, numba takes the one of the source.
                            function._cache.disable()
                            self._not_kept()
                        function._cache = _Forgiving(function._cache, self._not_kept)
            finally:
                settings.CACHE_DIR = before

    def _not_kept(self) -> None:
        self._keeps_all = False

    def seal(self, *marks: str, waits: bool = True) -> None:
        """Take down what each file holds, so that it is loaded again; costs little when nothing is new.

        `waits`: for a process that loads or compiles. Whoever ends leaves it to that one, which seals all.
        """
        with suppress(OSError), self._alone(waits=waits):
            self._seal(marks)

    def _seal(self, marks: Iterable[str]) -> None:
        known = self._sums()
        files = {self._name_of(path): path for path in self._files()}
        looks = {name: _look(path) for name, path in files.items()}
        if {name: row[1:] for name, row in known.items()} != looks:
            for path in files.values():
                path.chmod(0o600)
            rows = {name: [_sum(path), *_look(path)] for name, path in files.items()}
            fresh = self.folder / f"{_SUMS}.{os.getpid()}"
            fresh.write_text(json.dumps(rows, indent=0), encoding="utf-8")
            fresh.replace(self.folder / _SUMS)
        for mark in marks if self._keeps_all else ():
            self._stamp(mark).touch(mode=0o600)

    @contextmanager
    def _alone(self, *, waits: bool = True) -> Iterator[None]:
        """While no other process loads or compiles this code; where there are no such locks, at once.

        Raises BlockingIOError where another does and this one does not wait.
        """
        try:
            import fcntl
        except ImportError:
            yield
            return
        # No link is followed, and the lock goes with the file.
        lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            yield
        finally:
            os.close(lock)

    def _stamp(self, mark: str) -> Path:
        return self.folder / f"{mark}{_READY}"

    def _name_of(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _files(self) -> list[Path]:
        """All that numba may load, and links that may lead it elsewhere."""
        links = []
        for folder, folders, names in os.walk(self.folder):
            paths = [Path(folder, name) for name in names]
            if Path(folder) == self.folder:
                paths = [path for path in paths if path.is_symlink() or not _is_own(path.name)]
            links += paths + [path for name in folders if (path := Path(folder, name)).is_symlink()]
        return links

    def _sums(self) -> dict[str, list[Any]]:
        if is_waited_for(self.folder / _SUMS):
            return {}
        try:
            sums = json.loads((self.folder / _SUMS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return sums if isinstance(sums, dict) else {}

    def _unsound(self) -> list[Path]:
        """Files that are not as they were compiled here, and missing ones."""
        known, files = self._sums(), self._files()
        bad = [path for path in files if not _is_sound(path, known.get(self._name_of(path)))]
        names = {self._name_of(path) for path in files}
        return bad + [self.folder / name for name in known if name not in names]

    def _remove_what_is_no_file(self) -> None:
        """Take away pipes, links and folders with names of files: a start would wait for them, or fail."""
        import shutil

        for folder, folders, names in os.walk(self.folder):
            for path in (Path(folder, name) for name in (*names, *folders)):
                with suppress(OSError):
                    mode = path.lstat().st_mode
                    if stat.S_ISDIR(mode) and (_is_own(path.name) or path.suffix in _CODE):
                        shutil.rmtree(path)
                    elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                        path.unlink()

    def _remove_unsound(self) -> None:
        bad = self._unsound()
        for path in bad:
            path.unlink(missing_ok=True)
        if bad:
            for stamp in self.folder.glob(f"*{_READY}"):
                stamp.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Forgiving:
    """What numba keeps code with; a full disk keeps nobody from running what was compiled."""

    inside: Any
    not_kept: Callable[[], None]

    def save_overload(self, signature: Any, code: Any) -> None:
        try:
            self.inside.save_overload(signature, code)
        except OSError:
            self.not_kept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)


def _is_own(name: str) -> bool:
    """Whether it is not a code, but what is known about it."""
    return name == _LOCK or name.startswith(_SUMS) or name.endswith(_READY)


def _look(path: Path) -> list[int]:
    status = path.lstat()
    return [status.st_size, status.st_mtime_ns]


def _sum(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_sound(path: Path, known: object) -> bool:
    try:
        status = path.lstat()
        safe = stat.S_ISREG(status.st_mode) and is_ours(status) and not status.st_mode & OTHERS_WRITE
        return safe and isinstance(known, list) and bool(known) and known[0] == _sum(path)
    except OSError:
        return False


def place_of(module_file: str) -> str:
    """A short name of the folder a module lies in: code compiled from another checkout is not ready here."""
    import hashlib

    return hashlib.sha256(os.fspath(Path(module_file).parent).encode()).hexdigest()[:12]


_functions: list[Any] = []
"""All that `machine_code` has made in this process."""
_choosing = Lock()


def machine_code(**options: Any) -> Callable[[F], F]:
    """Decorator: the function as machine code, compiled when first called; `options` are those of numba.

    Its code is kept nowhere until a CompiledCode of its source is loading: numba by itself would keep it in a
    folder beside the source, where nobody looks at it before it runs.
    """
    from numba import config, njit

    settings: Any = config
    if settings.CPU_NAME is None:
        settings.CPU_NAME, settings.CPU_FEATURES = processor(), ""

    def made(function: F) -> F:
        _functions.append(njit(**options)(function))
        return cast(F, _functions[-1])

    return made


_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False}
"""The last: arrays are not counted at each call, which would take more time than most laws do. numba compiles
what it brings itself so; a function that makes an array is refused when it is compiled."""


def compiled(function: F) -> F:
    """The function as machine code, without the lock of the interpreter; it is compiled when first called.

    It makes no arrays of its own.
    """
    return machine_code(**_OPTIONS)(function)


def inlined(function: F) -> F:
    """The same, put into the functions that call it: for loops that are worth it."""
    return machine_code(**_OPTIONS, inline="always")(function)
