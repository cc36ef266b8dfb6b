"""ls: the folders of a host, as its data nodes and management servers made them.

folders_of(cluster, host).named("ndb_3_fs/D8")      # ["DBLQH"]

Names of folders: a running 8.4.8 cluster; of redo logs and checkpoints: manual, file system of a data node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ndbplan.configuration.deployment import management_directory
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.space_files import named_files
from ndbplan.ndb.console import form
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import DataNode
from ndbplan.train.answer import Answer
from ndbplan.train.configuring import node_plan
from ndbplan.train.host.error_log import ENDED
from ndbplan.train.live import LiveCluster


@dataclass
class Folders:
    """What lies where."""

    main: dict[str, list[str]] = field(default_factory=dict)
    """Of folders that a start makes or a parameter names."""
    inside: dict[str, list[str]] = field(default_factory=dict)
    """Of those within them, and around them."""

    def named(self, name: str) -> list[str] | None:
        """What lies in a folder, named whole or from a data directory on; a file is itself; None: neither."""
        all_of = {**self.inside, **self.main}
        if name.startswith("/"):
            found = [all_of[name]] if name in all_of else []
        else:
            # Several processes may have directories of their own on one host.
            wanted = f"/{name.removeprefix('./')}"
            found = [there for folder, there in all_of.items() if folder.endswith(wanted)]
        if found:
            return sorted({one for there in found for one in there})
        return [name] if self._has(name) and "." in name.rpartition("/")[2] else None

    def has_unknown(self, name: str) -> bool:
        """Whether there is a folder of this name, in which nobody knows what lies."""
        return self._has(name) and self.named(name) is None

    def _has(self, name: str) -> bool:
        folder, _, last = name.rpartition("/")
        if not folder:
            return any(last in there for there in self.main.values())
        there = self.named(folder)
        return there is not None and last in there


def folders_of(cluster: LiveCluster, host: Host) -> Folders:
    """The folders of the processes of a host, the mount points of its disks, and all above them."""
    found = Folders()
    for node in cluster.plan.data_nodes:
        if node.host_id == host.id:
            _of_data_node(cluster, node, found)
    for server in cluster.plan.management_nodes:
        if server.host_id == host.id:
            folder = management_directory(cluster.plan, server)
            found.main.setdefault(folder, []).extend(["config.ini", f"ndb_{server.node_id}_cluster.log"])
    for path in [*found.main, *found.inside, *(disk.mount_point.rstrip("/") for disk in host.disks)]:
        whole = PurePosixPath(path or "/")
        for below, above in zip((whole, *whole.parents), whole.parents, strict=False):
            there = (found.main if str(above) in found.main else found.inside).setdefault(str(above), [])
            there.append(below.name)
        if path not in found.main:
            found.inside.setdefault(str(whole), [])
    return found


def _of_data_node(cluster: LiveCluster, node: DataNode, found: Folders) -> None:
    i, state = node.node_id, cluster.state
    plan = node_plan(cluster.session.simulation, i)
    paths = data_node_paths(plan, node)
    has_errors = any(who == i and text.startswith(ENDED) for _, who, text, _ in state.node_logs)
    found.main.setdefault(paths.data_dir, []).extend(
        [f"ndb_{i}_out.log", f"ndb_{i}.pid"] + [f"ndb_{i}_error.log"] * has_errors
    )
    found.main.setdefault(paths.file_system, [])
    whole = f"{paths.file_system}/ndb_{i}_fs"
    found.main.setdefault(whole, []).extend(["D1", "D2", "LCP"])
    files = node_settings(plan, node).number("NoOfFragmentLogFiles")
    for folder in paths.redo_folders:
        found.inside[f"{whole}/{folder}"] = [f"S{number}.FragLog" for number in range(files)]
    for linked in filter(None, (paths.lcp, paths.redo)):
        # On another disk than the file system, in which a link leads there.
        above, _, last = linked.rpartition("/")
        found.main.setdefault(above, []).append(last)
    for folder, names in _disk_data(cluster, paths, i):
        found.main.setdefault(folder, []).extend(names)
    backups = [one for one in state.backups if not one.error]
    found.main.setdefault(f"{paths.backup}/BACKUP", [])
    for one in backups:
        if i in dict(one.bytes_by_node):
            name = f"BACKUP-{one.number}"
            listed = [f"{name}-0.{i}.Data", f"{name}.{i}.ctl", f"{name}.{i}.log"]
            found.main.setdefault(f"{paths.backup}/BACKUP/{name}", []).extend(listed)


def _disk_data(cluster: LiveCluster, paths: DataNodePaths, node_id: int) -> Iterator[tuple[str, list[str]]]:
    """Folders of undo files and data files, and what is in them; newer nodes have one for each [8.4.8]."""
    plan = cluster.plan
    parts = bool(form(plan.version, "dictionary_of_its_own"))
    undo = [name for group in plan.logfile_groups for name, _ in named_files(group.undo_files, None)]
    data = [name for one in plan.tablespaces for name, _ in named_files(one.data_files, one.directory)]
    for base, own, names in ((paths.undo_files, "LG", undo), (paths.data_files, "TS", data)):
        folder = f"{base}/ndb_{node_id}_fs" + f"/{own}" * parts
        if parts or names:
            yield folder, [name for name in names if "/" not in name]
        for name in names:
            if "/" in name:
                above, _, last = name.rpartition("/")
                yield above if above.startswith("/") else f"{folder}/{above}", [last]


def ls(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """Folders of data nodes and management servers; without a name those that there are."""
    letters = {letter for word in words if word.startswith("-") for letter in word[1:]}
    if not letters <= set("1aA"):
        return Answer("ls: names are simulated here, not their owners and dates: say -1, -a or nothing\n", 2)
    names = [word for word in words if not word.startswith("-")]
    if any(sign in name for name in names for sign in "*?["):
        return Answer("bash: *, ? and [ in names are not simulated here\n", 2)
    folders = folders_of(cluster, host)
    if not names:
        return Answer("".join(f"{name}\n" for name in sorted(folders.main)))
    text, failed = "", 0
    for name in names:
        asked = name.rstrip("/") or "/"
        there = folders.named(asked)
        if there is not None:
            text += "".join(f"{one}\n" for one in there)
            continue
        is_there = folders.has_unknown(asked)
        text += f"ls: what lies in '{name}' is not simulated here\n" if is_there else (
            f"ls: cannot access '{name}': No such file or directory\n"
        )  # fmt: skip
        failed = 2
    return Answer(text, failed)
