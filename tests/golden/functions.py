"""What the functions of a mysql console answer to arguments at the edges of what they take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ndbplan.base.kept import keeping
from ndbplan.base.resources import read_json
from ndbplan.plan.samples import sample_plan
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.console import Client

RELEASE = "8.4.8"
_FILE = Path(__file__).parent / "inputs" / "arguments.json"
PARTS = {"a-d": ("a", "e"), "e-k": ("e", "l"), "l-r": ("l", "s"), "s-z": ("s", "~")}
"""Functions by their first letter."""


def answers(part: str) -> Iterator[str]:
    """Each call of the functions of a part, with its value, its error and its warnings."""
    given = json.loads(_FILE.read_text(encoding="utf-8"))
    counts = read_json("ndb/sql_server.json")["functions"]["counts"] | given["counts"]
    first, end = PARTS[part]
    with keeping():
        cluster = LiveCluster.begin(sample_plan("redo-overload").replace(ndb_version=RELEASE), hours=0.5)
        cluster.advance(9.9)
        console = Client()
        for name in sorted(name for name in counts if first <= name < end and name not in given["left out"]):
            least, *most = counts[name] or (0, 0)
            for count in range(least, (most[0] if most else least + 1) + 1):
                for arguments in given["arguments"].get(str(count), ()):
                    asked = f"{name.upper()}({', '.join(arguments)})"
                    yield f"{asked} = {_told(console, asked, cluster)}"


def _told(console: Client, asked: str, cluster: LiveCluster) -> str:
    answer = console.answer(f"SELECT {asked}", cluster)
    rows = [line for line in answer.splitlines() if line.startswith("|")][1:]
    if not rows:
        return answer.partition("\n")[0]
    value = "\\n".join(row.strip("| ") for row in rows)
    if "warning" not in answer:
        return value
    said = console.answer("SHOW WARNINGS", cluster).splitlines()
    warnings = (" ".join(line.strip("| ").split()) for line in said if line.startswith("|"))
    return f"{value}  ! {'; '.join(list(warnings)[1:])}"
