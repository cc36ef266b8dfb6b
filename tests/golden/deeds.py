"""What the world does to a live cluster, line by line: the events and orders that each line stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.plan.samples import sample_plan
from ndbplan.train.live import LiveCluster
from ndbplan.train.world import deed, do

_OF_PARTS = ("kill", "hang", "wake", "start", "fail", "restore", "cut", "heal", "fill", "free")
_PARTS = (
    "node:145", "node:1", "node:1,node:2", "node:50", "node:99", "host:host-a1",
    "host:host-a1,host:host-b1", "host:zz", "rack:Rack A", "disk:host-a1/nvme0", "disk:host-a1/nvme1",
    "disk:host-a1/redo", "disk:host-a1/backup", "disk:host-a1/none", "disk:app-a1/sata0",
    "device:host-a1/nvme0", "link:host-a1/host-b1", "link:host-a1/zz", "switch:Rack A", "a1", "",
)  # fmt: skip
_WITH_A_SPEED = (
    "disk:host-a1/nvme1", "disk:host-a1/redo", "link:host-a1/host-b1", "link:host-a1/host-a1", "node:1",
)  # fmt: skip
_SPEEDS = ("0", "0%", "1%", "37.5%", "100%", "150%", "2500%", "-3%", "20MB/s", "5GB/s", "100GB/s", "fast", "")
_OTHERS = (
    "load x2", "load 0", "load x0.25", "load x5000", "load -1", "load much", "spread", "help me", "",
    "  KILL  node:1 ", "set RedoBuffer=64M", "set RedoBuffer", "set =64M", "set RedoBuffer=",
    "set RedoBuffer=many", "set Nothing=1", "set NoOfFragmentLogFiles=20", "set NoOfReplicas=1",
    "set DataMemory=8G", "set DataDir=/x", "set ODirect=1", "edit RedoBuffer=128M",
    "edit NoOfFragmentLogFiles=20", "edit NoOfReplicas=3", "move lcp to nvme0", "move lcp,redo to nvme1",
    "move backup to nvme0", "move undo to none", "move nothing to nvme0", "move lcp",
    "slow disk:host-a1/redo 50% for 30s", "slow disk:host-a1/redo 20MB/s for 1.5min",
    "slow disk:host-a1/redo 50% for 2d", "slow link:host-a1/host-b1 50% for 10s",
    "fill disk:host-a1/backup for 5s", "fill disk:host-a1/backup for -1s",
)  # fmt: skip
_IN_TURN = (
    "wait 1.5s", "clock", "set RedoBuffer=many", "set RedoBuffer=64M", "wait 1s", "edit DataMemory=-1",
    "wake node:1", "start node:1", "hang node:1", "hang node:1", "start node:1",
    "wake node:1", "kill node:1", "kill node:1", "wake node:1", "wait 20s", "start node:1",
    "start node:1", "wait -1s", "wait 2d", "rewind 5s", "rewind to 2s", "rewind to 500s",
    "until nodes_down > 0 within 5s", "until redo_log > 0 within 2s", "until redo_log > 101 within 1s",
    "until nothing > 1", "kill node:145", "wait 3s", "start node:145", "wait 10s",
)  # fmt: skip


def answers() -> Iterator[str]:
    """Each line with what it stands for; last those that are done, one after the other."""
    with keeping():
        cluster = LiveCluster.begin(sample_plan("starter"), hours=0.5)
        cluster.advance(2.0)
        for verb in _OF_PARTS:
            for part in _PARTS:
                yield from _told(f"{verb} {part}", cluster)
        for part in (
            "disk:host-a1/nvme1",
            "disk:host-a1/redo",
            "link:host-a1/host-b1",
            "link:host-a1/host-a1",
            "node:1",
        ):
            for speed in _SPEEDS:
                yield from _told(f"slow {part} {speed}", cluster)
        for line in _OTHERS:
            yield from _told(line, cluster)
        for line in _IN_TURN:
            try:
                yield f"{line}: {do(line, cluster)}"
            except UserError as refused:
                yield f"{line}: refused: {refused}"


def _told(line: str, cluster: LiveCluster) -> Iterator[str]:
    try:
        done = deed(line, cluster)
        acts = list(done.acts)
    except UserError as refused:
        yield f"{line}: refused: {refused}"
        return
    yield f"{line}: {done.said}"
    yield from (f"    {_short(repr(act))}" for act in acts)


def _short(text: str) -> str:
    """Without more digits than count."""
    return re.sub(r"\d+\.\d{9,}", lambda found: f"{float(found[0]):.9g}", text)
