"""What the program wrote into a folder: what is so still is written anew, all else is somebody's work.

changed = made_by_others({"config.ini": text}, folder)      # names, in order
remember(folder, ["config.ini"])
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ndbplan.base.files import write_atomically

RECORD = ".ndbplan.sha256"
"""The file in the folder that has the checksums, as `sha256sum -c` reads them."""
_HEAD = f"# What ndbplan wrote here. 'sha256sum -c {RECORD}' names the files that are otherwise since.\n"


def made_by_others(files: Mapping[str, bytes], folder: Path) -> tuple[str, ...]:
    """Names of `files` that are there with another content, which is not what the program wrote, in order."""
    known = _recorded(folder)
    return tuple(
        name for name, content in files.items() if _is_of_others(folder / name, content, known.get(name))
    )


def is_recorded(folder: Path, name: str) -> bool:
    """Whether the program has written a file of the folder, whatever it says by now."""
    return name in _recorded(folder)


def remember(folder: Path, names: Iterable[str]) -> None:
    """Record files of a folder as they are now. Raises FileError when that cannot be written."""
    known = {name: digest for name, digest in _recorded(folder).items() if (folder / name).is_file()}
    known |= {name: _digest((folder / name).read_bytes()) for name in names}
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(known.items()))
    if known:
        write_atomically(folder / RECORD, (_HEAD + lines).encode(), follow_link=False)


def _is_of_others(path: Path, content: bytes, digest: str | None) -> bool:
    try:
        if not path.is_file():
            return False
        now = path.read_bytes()
    except OSError:
        # What cannot be read is not known to be the same.
        return True
    return now != content and _digest(now) != digest


def _recorded(folder: Path) -> dict[str, str]:
    try:
        text = (folder / RECORD).read_bytes().decode("utf-8", "replace")
    except OSError:
        return {}
    parted = (line.partition("  ") for line in text.split("\n") if not line.startswith("#"))
    return {name: digest for digest, _, name in parted if name}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
