"""Everything a plan is exported to, as a folder of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.files import NAME_BYTES_MOST, FileError, write_atomically
from ndbplan.base.kept import keeping
from ndbplan.base.units import how_many
from ndbplan.exporting.ansible import render_ansible
from ndbplan.exporting.ansible_parts import render_parts
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.exporting.gantt import gantt_carrying
from ndbplan.exporting.my_cnf import render_my_cnf
from ndbplan.exporting.operator import render_operator
from ndbplan.exporting.runbook import render_markdown, render_script
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.exporting.systemd import render_units
from ndbplan.exporting.written import is_recorded, made_by_others, remember
from ndbplan.ndb.host_settings import host_settings
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.operations.change import BEFORE_FOLDER
from ndbplan.operations.hosts import SETTINGS_FOLDER
from ndbplan.operations.life import operations
from ndbplan.operations.procedure import Procedure
from ndbplan.plan.plan import Plan

_NAME_SHOWN = 60


class ExportError(UserError):
    """A folder or file that cannot be written, or a kind of file there is none of."""


@dataclass(frozen=True)
class Running:
    """What runs before a change."""

    plan: Plan
    configuration: str = ""
    """The text of its config.ini, where it is not as the plan would be exported."""


@dataclass(frozen=True)
class _Ask:
    """What is exported."""

    plan: Plan
    groups: int
    """Node groups that the part add-nodes adds; 0: there is no such part."""
    running: Running | None = None


def _config(ask: _Ask) -> dict[str, str]:
    return {"config.ini": render_config_ini(ask.plan)}


def _my_cnf(ask: _Ask) -> dict[str, str]:
    return {f"{hostname}.my.cnf": text for hostname, text in render_my_cnf(ask.plan).items()}


def _runbook(ask: _Ask) -> dict[str, str]:
    before = None if ask.running is None else ask.running.plan
    parts = operations(ask.plan, ask.groups, before)
    return {
        "runbook.md": render_markdown(ask.plan, parts),
        "runbook.sh": render_script(ask.plan, parts, before),
    }


def _before(running: Running) -> dict[str, str]:
    """What runs, as the script finds it on the hosts and as the way back needs it."""
    options = {f"{host}.my.cnf": text for host, text in render_my_cnf(running.plan).items()}
    files = {"config.ini": running.configuration or render_config_ini(running.plan), **options}
    return {f"{BEFORE_FOLDER}{name}": text for name, text in files.items()}


def _grown(ask: _Ask, kinds: Collection[str]) -> dict[str, str]:
    """The folder that holds once nodes are added, and adds no more; nothing for a plan that cannot grow."""
    try:
        grown = grown_configuration(ask.plan, ask.groups)
    except UserError:
        return {}
    files = {name: text for kind in kinds for name, text in KINDS[kind](_Ask(grown, 0)).items()}
    return {f"{GROWN_FOLDER}{name}": text for name, text in files.items()}


def _schema(ask: _Ask) -> dict[str, str]:
    text = render_schema(ask.plan)
    return {"schema.sql": text} if text else {}


def _systemd(ask: _Ask) -> dict[str, str]:
    return render_units(ask.plan)


def _operator(ask: _Ask) -> dict[str, str]:
    return {"ndb-operator.yaml": render_operator(ask.plan)} if ask.plan.features.kubernetes_operator else {}


def _hosts(ask: _Ask) -> dict[str, str]:
    wanted = host_settings() if ask.plan.data_nodes else ()
    return {f"{SETTINGS_FOLDER}{one.file}": one.text for one in wanted}


def _ansible(ask: _Ask) -> dict[str, str]:
    before = None if ask.running is None else ask.running.plan
    return render_ansible(ask.plan) | render_parts(ask.plan, operations(ask.plan, ask.groups, before))


def _schedule(ask: _Ask) -> dict[str, str]:
    """The operation of adding nodes as a Gantt picture; nothing for a plan that cannot grow."""
    if not ask.groups:
        return {}
    try:
        return {"add-nodes.svg": gantt_carrying(ask.plan, Procedure(groups=ask.groups))}
    except UserError:
        return {}


KINDS: dict[str, Callable[[_Ask], dict[str, str]]] = {
    "config": _config,
    "mycnf": _my_cnf,
    "schema": _schema,
    "runbook": _runbook,
    "systemd": _systemd,
    "hosts": _hosts,
    "operator": _operator,
    "ansible": _ansible,
    "schedule": _schedule,
}
"""Kinds of files, as `--only` names them."""


def render_files(
    plan: Plan,
    only: Collection[str] | None = None,
    *,
    add_groups: int = 1,
    running: Running | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, str]:
    """The text of every exported file by its path inside the folder.

    `only` names kinds of KINDS (None: all); the add-node part of the runbook adds `add_groups` node groups.
    `running`: what runs, which a part of the runbook brings to the plan. Raises ExportError for a kind that
    does not exist, CannotChangeError for a change that cannot be done, Cancelled when told to stop.
    """
    unknown = sorted(set(only or ()) - KINDS.keys())
    if unknown:
        raise ExportError(
            f"there is no kind of file '{unknown[0]}'", where="--only", fix=f"name some of {', '.join(KINDS)}"
        )
    ask = _Ask(plan, add_groups, running)
    files: dict[str, str] = {}
    # The kinds ask the same of the plan.
    with keeping():
        for kind, rendered in KINDS.items():
            if cancelled():
                raise Cancelled
            if only is None or kind in only:
                files.update(rendered(ask))
        if only is None or "runbook" in only:
            files.update(_grown(ask, KINDS.keys() if only is None else only))
            if running is not None:
                files.update(_before(running))
    return files


def export(
    plan: Plan,
    directory: str | os.PathLike[str],
    only: Collection[str] | None = None,
    *,
    add_groups: int = 1,
    running: Running | None = None,
    pictures: Mapping[str, bytes] = MappingProxyType({}),
    replace: bool = False,
) -> list[Path]:
    """Write the files of a plan into a folder, which is made when missing; the paths written, in order.

    `pictures` go with them, drawn by who can. `replace`: also files that somebody changed or made.
    Raises ExportError when the folder or a file cannot be written, before the first one where a name is too
    long for file systems or a file is another's work, and what `render_files` raises; files are replaced one
    by one, whole.
    """
    folder = Path(directory)
    files = _contents(render_files(plan, only, add_groups=add_groups, running=running)) | dict(pictures)
    _refuse_long_names(files)
    if not replace:
        _refuse_others(folder, made_by_others(files, folder))
    written: list[str] = []
    try:
        for name, content in files.items():
            path = folder / name
            _make_folders(folder, path.parent)
            write_atomically(path, content, follow_link=False, executable=name.endswith(".sh"))
            written.append(name)
    except FileError as error:
        before = f"; {len(written)} of {len(files)} files are new, the others as before" if written else ""
        raise ExportError(f"{error.what}{before}", where=error.where, fix=error.fix) from None
    except OSError as error:
        raise ExportError(
            f"the folder cannot be made ({error.strerror})", where=str(folder), fix="name another folder"
        ) from None
    finally:
        # What could not be written is said already; without a record the next export asks.
        with suppress(FileError, OSError):
            remember(folder, written)
    return [folder / name for name in written]


def replaced(files: Mapping[str, str], directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """Names of those files that are there and say what neither they do nor the program has written."""
    return made_by_others(_contents(files), Path(directory))


def _contents(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode("utf-8") for name, text in files.items()}


def _refuse_others(folder: Path, names: Sequence[str]) -> None:
    if names:
        how = (
            "was changed since it was exported" if is_recorded(folder, names[0]) else "is not from an export"
        )
        more = f", like {how_many(len(names) - 1, 'other file')} of the folder" if len(names) > 1 else ""
        raise ExportError(
            f"{how}{more}; nothing was written",
            where=str(folder / names[0]),
            fix="replace with --replace, or name another folder",
        )


def _refuse_long_names(names: Iterable[str]) -> None:
    for name in names:
        for part in name.split("/"):
            taken = len(part.encode())
            if taken > NAME_BYTES_MOST:
                raise ExportError(
                    f"the name of a file has {taken} bytes; file systems allow {NAME_BYTES_MOST}",
                    where=f"{part[:_NAME_SHOWN]}…",
                    fix="shorten the name of the host, or leave such files out with --only",
                )


def _make_folders(top: Path, wanted: Path) -> None:
    """Make a folder below the one that was named. Raises ExportError for a link that leads out of it."""
    top.mkdir(parents=True, exist_ok=True)
    here = top
    for part in wanted.relative_to(top).parts:
        here /= part
        if here.is_symlink():
            raise ExportError("is a link, and would be written elsewhere", where=str(here), fix="remove it")
        here.mkdir(exist_ok=True)
