"""iostat, free and top: what the machine is busy with, by what the simulation says of its last moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from ndbplan.base.units import KIB, MIB, whole_number
from ndbplan.estimate.stored import memory
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.series import DiskSeries
from ndbplan.train.answer import PATIENCE_S, Answer
from ndbplan.train.busy import Lately, busy_of, lately_of, thread_use
from ndbplan.train.host.start_work import DiskWork, work_of_starts
from ndbplan.train.live import LiveCluster

REQUEST_BYTES = 128 * KIB
"""Mean size of a write [assumed: the largest that Linux makes of writes in a row is 128 to 1,280 KiB]."""
LATELY_S = 3.0
"""What top takes its means over: its usual delay."""
SYSTEM_BYTES = 600 * MIB
"""What a machine takes for itself [assumed]."""


def iostat(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`iostat -kx [SECONDS [REPORTS]]`: processors and disks over the last seconds; then time passes.

    Without SECONDS as long as from one global checkpoint to the next: what is written once in it is seen.
    """
    letters = {letter for word in words if word.startswith("-") for letter in word[1:]}
    if "x" not in letters or not letters <= set("cdkxyz") or letters >= set("cd"):
        return Answer("iostat: the figures of -x in kB are simulated here: say iostat -kx\n", 1)
    names = [word.removeprefix("/dev/") for word in words if word[:1] != "-" and whole_number(word) is None]
    shown = _Shown(host, letters, tuple(names))
    numbers = [number for word in words if (number := whole_number(word)) is not None]
    stated, reports = (*numbers, 0, 1)[:2] if len(numbers) != 1 else (numbers[0], 1)
    if stated * (reports - 1) > PATIENCE_S:
        return Answer(f"iostat: at most {PATIENCE_S:.0f} s are waited for here: say fewer reports\n", 1)
    if "0" in words[-2:]:
        return Answer("iostat: neither the interval nor the number of reports is 0\n", 1)
    head = f"Linux 5.15.0 ({host.hostname}) \t{cluster.clock:%m/%d/%Y} \t_x86_64_\t({host.cores} CPU)\n\n"
    seconds = stated or float(cluster.session.simulation.laws.run.gcp_s)
    # -y leaves out the report on what was before, where another one follows.
    if "y" in letters and stated:
        return Answer(head, waits=_reports(shown, stated, reports, cluster.now_s + stated))
    text = head + _report(cluster, shown, seconds)
    if reports == 1:
        return Answer(text)
    return Answer(text, waits=_reports(shown, stated, reports - 1, cluster.now_s + stated))


class _Shown(NamedTuple):
    """What a report has."""

    host: Host
    letters: Collection[str]
    names: tuple[str, ...]
    """Of devices; empty: all."""

    def has(self, part: str) -> bool:
        """Whether it has processors (`c`) or devices (`d`): both where neither is asked for."""
        return part in self.letters or not {"c", "d"} & set(self.letters)


def _reports(shown: _Shown, stated: int, left: int, due_s: float) -> Callable[[LiveCluster], Answer | None]:
    """The reports that follow, each when its time has passed; none of a host that is down."""
    host = shown.host

    def one(cluster: LiveCluster) -> Answer | None:
        spells = cluster.session.simulation.outage.spells.get(host.id, [])
        if spells and spells[-1].to_s is None:
            return Answer(f"client_loop: send disconnect: Broken pipe ({host.hostname})\n", 255)
        if cluster.now_s < due_s - 1e-6:
            return None
        text = _report(cluster, shown, stated)
        return Answer(text, waits=_reports(shown, stated, left - 1, due_s + stated) if left > 1 else None)

    return one


def _report(cluster: LiveCluster, shown: _Shown, seconds: float) -> str:
    host = shown.host
    lately = lately_of(cluster, seconds)
    busy = 100.0 * busy_of(cluster, host, lately)
    series = {disk.id: one for one in lately.result.disks for disk in host.disks if disk.id in one.disk_ids}
    starts = work_of_starts(cluster, host)
    used_by = {
        disk.id: min(1.0, _load_used(series.get(disk.id), lately) + _start_used(starts.get(disk.id), disk))
        for disk in host.disks
    }
    waits = max(used_by.values(), default=0.0)
    idle = max(0.0, 100.0 - busy)
    iowait = min(idle, 10.0 * waits)
    processors = [
        "avg-cpu:  %user   %nice %system %iowait  %steal   %idle",
        f"         {busy * 0.85:6.2f}    0.00 {busy * 0.15:7.2f} {iowait:7.2f}    0.00 {idle - iowait:7.2f}",
        "",
    ]
    lines = [
        "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm "
        "w_await wareq-sz  aqu-sz  %util",
    ]
    for disk in host.disks:
        one, used, start = series.get(disk.id), used_by[disk.id], starts.get(disk.id, DiskWork())
        written = 0.0 if one is None else sum(lately.mean(values) for values in one.bytes_per_s.values())
        written += start.written_bytes_per_s
        writes, reads = written / REQUEST_BYTES, start.read_bytes_per_s / REQUEST_BYTES
        idles = not writes and not reads
        if (shown.names and disk.name not in shown.names) or ("z" in shown.letters and idles):
            continue
        alone_s = max(disk.sync_write_latency_s, REQUEST_BYTES / disk.sequential_write_bytes_per_s)
        await_ms = 1000.0 * alone_s / max(0.02, 1.0 - used)
        read_ms = 1000.0 * REQUEST_BYTES / disk.sequential_read_bytes_per_s / max(0.02, 1.0 - used)
        lines.append(
            f"{disk.name:<12} {reads:8.2f} {reads * REQUEST_BYTES / KIB:9.2f} {0.0:8.2f} {0.0:6.2f} "
            f"{read_ms if reads else 0.0:7.2f} {REQUEST_BYTES / KIB if reads else 0.0:8.2f} "
            f"{writes:7.2f} {written / KIB:9.2f} {0.0:8.2f} {0.0:6.2f} {await_ms if writes else 0.0:7.2f} "
            f"{REQUEST_BYTES / KIB if writes else 0.0:8.2f} "
            f"{(writes * await_ms + reads * read_ms) / 1000:7.2f} {100 * used:6.2f}"
        )
    told = [*(processors if shown.has("c") else ()), *(lines if shown.has("d") else ())]
    return "\n".join(told).rstrip("\n") + "\n\n"


def _load_used(one: DiskSeries | None, lately: Lately) -> float:
    return 0.0 if one is None else lately.mean(one.utilisation)


def _start_used(work: DiskWork | None, disk: Disk) -> float:
    if work is None:
        return 0.0
    read = work.read_bytes_per_s / disk.sequential_read_bytes_per_s
    return read + work.written_bytes_per_s / disk.sequential_write_bytes_per_s


def nodes_on(cluster: LiveCluster, host: Host) -> list[DataNode]:
    """Data nodes of a host whose processes run."""
    return [
        node
        for node in cluster.plan.data_nodes
        if node.host_id == host.id and cluster.state.nodes[node.node_id].runs
    ]


def free(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`free -m`: data nodes take their memory when they start, whatever they hold."""
    needs = {one.node_id: one.ram_bytes.value for one in memory(cluster.plan).nodes}
    taken = sum(needs[node.node_id] for node in nodes_on(cluster, host)) + SYSTEM_BYTES
    total = host.memory_bytes
    used = min(total, taken)
    cached = (total - used) * 0.3
    units = {"k": KIB, "m": MIB, "g": 1024 * MIB, "h": 0.0}
    letters = [letter for word in words for letter in word[1:] or "-"]
    if not set(letters) <= set(units) or any(word[:1] != "-" for word in words):
        return Answer("free: -h, -k, -m and -g are simulated here\n", 1)
    unit = 0.0 if "h" in letters else units[["k", *letters][-1]]
    values = (total, used, total - used - cached, 0, cached, total - used)
    names = ("total", "used", "free", "shared", "buff/cache", "available")
    heading = " " * 7 + "".join(f"{name:>12}" for name in names)
    shown = [str(round(value / unit)) if unit else _human(value) for value in values]
    row = "Mem:   " + "".join(f"{one:>12}" for one in shown)
    none = "0" if unit else "0B"
    return Answer(f"{heading}\n{row}\nSwap:  {none:>12}{none:>12}{none:>12}\n")


def _human(size: float) -> str:
    """As `free -h` writes it: `7.6Gi`, `424Mi`."""
    for letters in ("B", "Ki", "Mi", "Gi"):
        if size < 1024 or letters == "Gi":
            break
        size /= 1024
    return f"{size:.1f}{letters}" if 0 < size < 10 else f"{size:.0f}{letters}"


def top(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`top -H`: the threads of the data nodes by the names that ndbinfo.threads has for them."""
    if not any("H" in word for word in words if word.startswith("-")):
        return Answer("top: the threads of data nodes are simulated here: say top -H\n", 1)
    rows: list[tuple[float, int, str, float]] = []
    needs = {one.node_id: one.ram_bytes.value for one in memory(cluster.plan).nodes}
    for node in nodes_on(cluster, host):
        first, size = cluster.state.process_number(node.node_id), needs.get(node.node_id, 0.0)
        for number, (name, busy) in enumerate(thread_use(cluster, node, LATELY_S)):
            rows.append((100.0 * busy, first + number, name, size))
    rows.sort(key=lambda row: (-row[0], row[1]))
    lines = [
        f"top - {cluster.clock:%H:%M:%S} up 40 days,  load average: {sum(r[0] for r in rows) / 100:.2f}",
        f"Threads: {len(rows)} total",
        "",
        "    PID USER      PR  NI    VIRT    RES S  %CPU  %MEM COMMAND",
    ]
    for busy, pid, name, size in rows[: 40 if "-n" not in words else None]:
        state_letter = "R" if busy > 50 else "S"
        shown = f"{size / 2**30:6.1f}g"
        share = min(100.0, 100.0 * size / host.memory_bytes)
        lines.append(
            f"{pid:>7} mysql     20   0 {shown} {shown} {state_letter} {busy:5.1f} {share:5.1f} {name}"
        )
    return Answer("\n".join(lines) + "\n")
