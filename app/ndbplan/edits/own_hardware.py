"""The hosts and disks that somebody keeps in the palette: saved from a card, in a file of their own.

    keep(plan, "host_1", "our 2023 blades")       # from then on offered beside the usual classes
    take_in(Path("colleague.json")); write_out(Path("for-you.json"))

The file holds what a plan states of a host or disk, without its place, its address and its nodes. It is small
and read whenever it is asked for, so that all windows and commands of a user see the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_at_most, write_atomically
from ndbplan.base.once import each_key_once
from ndbplan.base.units import format_bytes
from ndbplan.edits import validated
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import Part
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan

OWN = "own:"
"""What the keys of own classes begin with; behind it stands the name."""
MOST = 500
_MOST_FILE_BYTES = 5_000_000
_MOST_NAME = 64
_PLACE_OF_HOST = ("id", "hostname", "location_id", "position", "slot", "disks")
_PLACE_OF_DISK = ("id", "mount_point")
_ANY_ID = "x"


class Own(NamedTuple):
    """One host or disk of the user's own."""

    kind: Literal["host", "disk"]
    name: str
    part: Host | Disk
    """As it is made, with ids and addresses that a plan replaces."""

    @property
    def key(self) -> str:
        """Its key in the palette."""
        return f"{OWN}{self.kind}:{self.name}"


def own_file() -> Path:
    """Where they are kept."""
    import platformdirs

    return Path(platformdirs.user_config_dir("ndbplan")) / "hardware.json"


def own_hardware() -> tuple[Own, ...]:
    """What is kept; nothing where there is no file, or one that cannot be read (`kept` says why)."""
    try:
        return kept()
    except UserError:
        return ()


def kept() -> tuple[Own, ...]:
    """What is kept. Raises UserError where there is a file that cannot be read: it is not written over."""
    return read(own_file()) if os.path.lexists(own_file()) else ()


def own(key: str) -> Own:
    """The one with this key. Raises EditError when it is kept no more."""
    for one in own_hardware():
        if one.key == key:
            return one
    name = key.rpartition(":")[2]
    raise EditError(f"there is no hardware of your own called '{name[:60]}'", fix="keep it again")


def keep(plan: Plan, object_id: str, name: str) -> Own:
    """Keep a host with its disks, or a disk, under a name; the one of that name and kind is replaced.

    Raises UserError.
    """
    part = plan.by_id.get(object_id)
    if not isinstance(part, Host | Disk):
        raise EditError("only hosts and disks can be kept", fix="select one")
    return keep_these((Own("host" if isinstance(part, Host) else "disk", _named(name), part),))[0]


def forget(key: str) -> None:
    """Keep one no longer. Raises UserError when the file cannot be read or written."""
    _write([one for one in kept() if one.key != key], own_file())


def take_in(path: Path) -> tuple[Own, ...]:
    """Keep what a file holds too; what has the same name and kind is replaced. Raises UserError."""
    return keep_these(read(path))


def keep_these(new: tuple[Own, ...]) -> tuple[Own, ...]:
    """Keep these too; what has the same name and kind is replaced. Raises UserError."""
    names = {one.key for one in new}
    _write([*(one for one in kept() if one.key not in names), *new], own_file())
    return new


def write_out(path: Path) -> int:
    """Write all that is kept to a file for others; how many. Raises UserError."""
    found = kept()
    _write(found, path)
    return len(found)


def read(path: Path) -> tuple[Own, ...]:
    """What a file holds. Raises UserError for one that is no such file."""
    try:
        content = read_at_most(path, _MOST_FILE_BYTES)
        if content is None:
            raise UserError(
                f"it has more than {format_bytes(_MOST_FILE_BYTES)}, the most that is read",
                fix="choose a file of kept hardware",
            )
        document = json.loads(content, object_pairs_hook=each_key_once)
    except UserError as error:
        raise error.at(str(path)) from None
    except OSError as error:
        raise UserError(f"cannot be read ({error.strerror})", where=str(path), fix="check the name") from None
    except (ValueError, RecursionError):
        raise UserError("this is not JSON", where=str(path), fix="choose a file of kept hardware") from None
    rows = document.get("hardware") if isinstance(document, dict) else None
    if not isinstance(rows, list) or len(rows) > MOST:
        fix = "choose a file that ndbplan wrote of your hardware"
        raise UserError("it has no list 'hardware' of hosts and disks", where=str(path), fix=fix)
    return read_rows(rows, f"{path}: hardware")


def read_rows(rows: Iterable[Any], where: str) -> tuple[Own, ...]:
    """The hosts and disks of a list as such a file has it. Raises UserError, which names the row."""
    return tuple(_read_row(row, f"{where}[{n}]") for n, row in enumerate(rows))


def _read_row(row: Any, where: str) -> Own:
    if not isinstance(row, dict) or row.get("kind") not in ("host", "disk"):
        raise UserError("its kind is neither 'host' nor 'disk'", where=where, fix="correct the file")
    values = {key: value for key, value in row.items() if key not in ("kind", "name")}
    try:
        name = _named(str(row.get("name", "")))
        if row["kind"] == "disk":
            return Own("disk", name, _disk(values.get("disk"), 0))
        disks = values.get("disks", [])
        host = {"id": _ANY_ID, "hostname": "host-1", **_mapping(values.get("host"))}
        made = validated.made(Host, {**host, "disks": ()})
        inside = tuple(_disk(one, n) for n, one in enumerate(disks if isinstance(disks, list) else ()))
        return Own("host", name, validated.changed(made, disks=inside))
    except UserError as error:
        place = f"{where}.{error.where}" if error.where else where
        raise UserError(error.what, where=place, fix=error.fix) from None


def _disk(values: Any, number: int) -> Disk:
    return validated.made(Disk, {"name": f"disk{number}", **_mapping(values), "id": f"{_ANY_ID}{number}"})


def _mapping(values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise UserError("it says nothing of its hardware", fix="correct the file")
    return values


def _named(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _MOST_NAME or not name.isprintable():
        raise UserError(f"'{name[:40]}' is not a name", fix=f"give it one of 1 to {_MOST_NAME} letters")
    return name


def _row(one: Own) -> dict[str, Any]:
    if isinstance(one.part, Host):
        disks = [_stated(disk, ("id",)) for disk in one.part.disks]
        return {"kind": "host", "name": one.name, "host": _stated(one.part, _PLACE_OF_HOST), "disks": disks}
    return {"kind": "disk", "name": one.name, "disk": _stated(one.part, _PLACE_OF_DISK)}


def _stated(part: Part, left_out: Iterable[str]) -> dict[str, Any]:
    return part.model_dump(mode="json", exclude_defaults=True, exclude=set(left_out))


def _write(those: Iterable[Own], path: Path) -> None:
    rows = [_row(one) for one in those]
    if len(rows) > MOST:
        raise UserError(f"{len(rows)} hosts and disks are kept, {MOST} at most", fix="remove some")
    text = json.dumps({"hardware": rows}, indent=2, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"the folder cannot be made ({error.strerror})", where=str(path.parent), fix="check the place"
        ) from None
    write_atomically(path, text.encode(), backup=True)
