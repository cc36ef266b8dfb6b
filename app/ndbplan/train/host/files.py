"""df, ls and tail: disks and files of a host."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ndbplan.base.units import whole_number
from ndbplan.configuration.deployment import management_directory
from ndbplan.configuration.directories import data_node_paths, disk_of_path
from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.ndb.cluster_log import stamp, written
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import ManagementNode
from ndbplan.simulate.events.full_disks import is_full
from ndbplan.simulate.moment import within
from ndbplan.train.answer import Answer
from ndbplan.train.host.error_log import ENDED, error_log
from ndbplan.train.live import LiveCluster

TAIL_LINES = 10


def _short(size: float) -> str:
    """`1.5T`, `20G`, as df -h writes it."""
    for name, unit in (("T", 2**40), ("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if size >= unit:
            value = size / unit
            return f"{value:.1f}{name}" if value < 10 else f"{value:.0f}{name}"
    return f"{size:.0f}"


_WIDTHS = {True: (14, 5, 5, 5), False: (14, 9, 9, 9)}
"""Least widths of the columns of df, with and without -h."""


def df(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`df -h`, or in blocks of 1,024 bytes: each disk at its mount point, with the files of nodes."""
    options = {letter for word in words if word.startswith("-") for letter in word[1:]}
    asked = [word for word in words if not word.startswith("-")]
    if not options <= set("hk"):
        return Answer("df: -h and -k are simulated here\n", 1)
    is_short = "h" in options
    found = disk_space(cluster.plan)
    heads = ("Size", "Avail") if is_short else ("1K-blocks", "Available")
    rows: list[tuple[str, ...]] = [("Filesystem", heads[0], "Used", heads[1], "Use%", "Mounted on")]
    disks = [one for one in host.disks if not asked or any(_lies_on(name, one, host) for name in asked)]
    for name in asked:
        if not any(_lies_on(name, one, host) for one in host.disks):
            return Answer(f"df: {name[:80]}: on no disk that the plan has on this host\n", 1)
    for disk in disks:
        there = found.of(disk.id)
        used = min(float(disk.capacity_bytes), 0.0 if there is None else there.used_bytes.value)
        if is_full(cluster.session.simulation, disk.id):
            used = float(disk.capacity_bytes)
        share = math.ceil(100 * used / disk.capacity_bytes)
        sizes = (disk.capacity_bytes, used, disk.capacity_bytes - used)
        shown = [_short(one) if is_short else str(round(one / 1024)) for one in sizes]
        rows.append((f"/dev/{disk.name}", *shown, f"{share}%", disk.mount_point))
    least = (*_WIDTHS[is_short], 4)
    widths = [max(least[i], *(len(row[i]) for row in rows)) for i in range(5)]
    lines = [
        f"{row[0]:<{widths[0]}} " + " ".join(f"{row[i]:>{widths[i]}}" for i in range(1, 5)) + f" {row[5]}"
        for row in rows
    ]
    return Answer("\n".join(lines) + "\n")


def _lies_on(name: str, disk: Disk, host: Host) -> bool:
    """Whether a path is on a disk: of those whose mount point it begins with, the longest."""
    if name == f"/dev/{disk.name}":
        return True
    mounts = [one.mount_point.rstrip("/") for one in host.disks]
    fitting = [one for one in mounts if name == one or name.startswith(f"{one}/")]
    return bool(fitting) and disk.mount_point.rstrip("/") == max(fitting, key=len)


def _folders(cluster: LiveCluster, host: Host) -> dict[str, list[str]]:
    """Folders of the processes of a host, with what lies in them."""
    found: dict[str, list[str]] = {}
    for node in cluster.plan.data_nodes:
        if node.host_id != host.id:
            continue
        paths, i = data_node_paths(cluster.plan, node), node.node_id
        found.setdefault(paths.data_dir, []).extend(
            [f"ndb_{i}_out.log", f"ndb_{i}.pid"] + [f"ndb_{i}_error.log"] * _has_errors(cluster, i)
        )
        found.setdefault(paths.file_system, []).append(f"ndb_{i}_fs")
        inside = ["D1", "D2", "D8", "D9", "D10", "D11", "LCP"]
        found.setdefault(f"{paths.file_system}/ndb_{i}_fs", []).extend(inside)
        backups = [f"BACKUP-{one.number}" for one in cluster.state.backups if not one.error]
        found.setdefault(paths.backup, []).append("BACKUP")
        found.setdefault(f"{paths.backup}/BACKUP", []).extend(backups)
        for one in cluster.state.backups:
            size = round(dict(one.bytes_by_node).get(i, 0.0))
            if not one.error and size:
                name = f"BACKUP-{one.number}"
                listed = [f"{name}-0.{i}.Data  {size}", f"{name}.{i}.ctl", f"{name}.{i}.log"]
                found.setdefault(f"{paths.backup}/BACKUP/{name}", []).extend(listed)
    for server in cluster.plan.management_nodes:
        if server.host_id == host.id:
            folder = management_directory(cluster.plan, server)
            found.setdefault(folder, []).extend(["config.ini", f"ndb_{server.node_id}_cluster.log"])
    return found


def _has_errors(cluster: LiveCluster, node_id: int) -> bool:
    return any(i == node_id and text.startswith(ENDED) for _, i, text, _ in cluster.state.node_logs)


def ls(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """Folders of data nodes and management servers; without a name those that there are."""
    folders = _folders(cluster, host)
    letters = {letter for word in words if word.startswith("-") for letter in word[1:]}
    if not letters <= set("1aA"):
        return Answer("ls: names are simulated here, not their owners and dates: say -1, -a or nothing\n", 2)
    names = [word for word in words if not word.startswith("-")]
    if any(sign in name for name in names for sign in "*?["):
        return Answer("bash: *, ? and [ in names are not simulated here\n", 2)
    if not names:
        return Answer("".join(f"{name}\n" for name in sorted(folders)))
    text, failed = "", 0
    for name in names:
        inside = _inside(folders, name.rstrip("/") or "/")
        inside = _above(folders, host, name) if inside is None else inside
        if inside is not None:
            text += "".join(f"{one}\n" for one in sorted(set(inside)))
            continue
        folder, _, last = name.rstrip("/").rpartition("/")
        listed = _inside(folders, folder) if folder else [one for some in folders.values() for one in some]
        if last not in [one.partition(" ")[0] for one in listed or ()]:
            text += f"ls: cannot access '{name}': No such file or directory\n"
        elif "." in last:
            text += f"{name}\n"
            continue
        else:
            text += f"ls: what lies in {last} is not simulated here\n"
        failed = 2
    return Answer(text, failed)


def _inside(folders: Mapping[str, list[str]], name: str) -> list[str] | None:
    """What lies in a folder that is named whole, or from a data directory on, where the shell begins."""
    found = [folders[name]] if name in folders else []
    if not name.startswith("/"):
        # Several processes may have directories of their own on one host.
        found = [
            inside for folder, inside in folders.items() if folder.endswith(f"/{name.removeprefix('./')}")
        ]
    return [one for inside in found for one in inside] if found else None


def _above(folders: Mapping[str, list[str]], host: Host, name: str) -> list[str] | None:
    """What leads on to folders of processes, and to disks; None: nothing does."""
    start = f"{name.rstrip('/')}/"
    ends = [*folders, *(f"{disk.mount_point.rstrip('/')}/" for disk in host.disks)]
    found = [end.removeprefix(start).partition("/")[0] for end in ends if end.startswith(start)]
    return [one for one in found if one] if found and name.startswith("/") else None


def tail(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """The last lines of the cluster log, on a management host, or of the log of a data node; -n and -f."""
    stated, names, left = str(TAIL_LINES), list[str](), list(words)
    while left:
        word = left.pop(0)
        if word in ("-n", "--lines"):
            if not left:
                return Answer("tail: option requires an argument -- 'n'\n", 1)
            stated = left.pop(0)
        elif word.startswith(("-n", "--lines=")):
            stated = word.removeprefix("--lines=").removeprefix("-n")
        elif whole_number(word[1:]) is not None and word[:1] == "-":
            stated = word[1:]
        elif word[:1] == "-" and word not in _TAIL_FLAGS:
            return Answer("tail: -n and -f are simulated here\n", 1)
        elif word[:1] != "-":
            names.append(word)
    number = whole_number(stated.removeprefix("+").removeprefix("-"))
    if number is None:
        return Answer(f"tail: invalid number of lines: '{stated[:40]}'\n", 1)
    if not names:
        return Answer("tail: name a log, such as ndb_1_cluster.log or ndb_3_out.log\n", 1)
    text, failed = "", 0
    for name in names:
        lines = log_of(cluster, host, name.rpartition("/")[2])
        if lines is None:
            text += f"tail: cannot open '{name}' for reading: No such file or directory\n"
            failed = 1
            continue
        # From a line on, which +3 names, or so many at the end.
        begin = max(0, number - 1) if stated[:1] == "+" else max(0, len(lines) - number)
        heading = f"{chr(10) * bool(text)}==> {name} <==\n" if len(names) > 1 else ""
        text += heading + "".join(f"{line}\n" for line in lines[begin:][-_MOST_LINES:])
    return Answer(text, failed)


_TAIL_FLAGS = ("-f", "-F", "--follow")
_MOST_LINES = 10_000


def followed(words: Sequence[str]) -> str:
    """The log that a command line follows: `tail -f LOG`; empty: it follows none."""
    if not words or words[0] != "tail" or not {"-f", "-F", "--follow"} & set(words):
        return ""
    names = [word for word in words[1:] if not word.startswith("-") and whole_number(word) is None]
    return names[0].rpartition("/")[2] if names else ""


def log_of(cluster: LiveCluster, host: Host, name: str) -> list[str] | None:
    """The lines of a log of a host; None: it has no such log."""
    state, full = cluster.state, cluster.session.simulation.full_disks
    for server in (p for p in cluster.plan.processes if isinstance(p, ManagementNode)):
        if server.host_id == host.id and name == f"ndb_{server.node_id}_cluster.log":
            return [written(line, state.begin) for line in cluster.log_file(server)]
    for node in cluster.plan.data_nodes:
        if node.host_id == host.id and name == f"ndb_{node.node_id}_out.log":
            disk_id = disk_of_path(host.disks, data_node_paths(cluster.plan, node).data_dir)
            return [
                f"{stamp(at_s, state.begin)} [ndbd] {severity:<8} -- {text}"
                for at_s, node_id, text, severity in state.node_logs
                if node_id == node.node_id
                and not text.startswith(ENDED)
                and not (full and disk_id in within(full, at_s))
            ]
        if node.host_id == host.id and name == f"ndb_{node.node_id}_error.log":
            return error_log(state, node) or None
    return None
