"""df and tail: disks of a host, and logs on them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ndbplan.base.units import whole_number
from ndbplan.configuration.directories import data_node_paths, disk_of_path
from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.ndb.cluster_log import stamp, written
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import DiskRole, ManagementNode
from ndbplan.simulate.events.full_disks import is_full
from ndbplan.simulate.moment import within
from ndbplan.train.answer import Answer
from ndbplan.train.backups import backup_bytes
from ndbplan.train.configuring import node_plan
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
    found = _spaces(cluster, host)
    heads = ("Size", "Avail") if is_short else ("1K-blocks", "Available")
    rows: list[tuple[str, ...]] = [("Filesystem", heads[0], "Used", heads[1], "Use%", "Mounted on")]
    disks = [one for one in host.disks if not asked or any(_lies_on(name, one, host) for name in asked)]
    for name in asked:
        if not any(_lies_on(name, one, host) for one in host.disks):
            return Answer(f"df: {name[:80]}: on no disk that the plan has on this host\n", 1)
    for disk in disks:
        used = min(float(disk.capacity_bytes), found.get(disk.id, 0.0))
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


def _spaces(cluster: LiveCluster, host: Host) -> dict[str, float]:
    """Bytes that the files of data nodes take of the disks of a host, by their ids: also of backups made."""
    found: dict[str, float] = {}
    for node in (one for one in cluster.plan.data_nodes if one.host_id == host.id):
        plan = node_plan(cluster.session.simulation, node.node_id)
        for disk in host.disks:
            space = disk_space(plan).of(disk.id)
            own = () if space is None else (one for one in space.files if one.node_id == node.node_id)
            # A plan keeps room for backups that nobody has made yet.
            size = sum(one.bytes.value for one in own if one.role is not DiskRole.BACKUP)
            found[disk.id] = found.get(disk.id, 0.0) + size
        kept = disk_of_path(host.disks, data_node_paths(plan, node).backup)
        if kept is not None:
            found[kept] = found.get(kept, 0.0) + backup_bytes(cluster.session.simulation, node.node_id)
    return found


def _lies_on(name: str, disk: Disk, host: Host) -> bool:
    """Whether a path is on a disk: of those whose mount point it begins with, the longest."""
    if name == f"/dev/{disk.name}":
        return True
    mounts = [one.mount_point.rstrip("/") for one in host.disks]
    fitting = [one for one in mounts if name == one or name.startswith(f"{one}/")]
    return bool(fitting) and disk.mount_point.rstrip("/") == max(fitting, key=len)


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
