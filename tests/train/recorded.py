"""Clusters as those that were recorded, and how answers are compared: in form."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, ApiSlot, DataNode, SqlNode

from .conftest import two_by_two

ANSWERS = Path(__file__).parent.parent / "reality" / "console-answers.json"
_PAGES = re.compile(r"[0-9]+%\([0-9]+ ([0-9]+)K pages of total [0-9]+\)")


@cache
def answers() -> dict[str, Any]:
    return json.loads(ANSWERS.read_text(encoding="utf-8"))


def form_of(output: str) -> str:
    """An answer without sizes of memory."""
    return _PAGES.sub(r"N%(N \1K pages of total N)", output)


def without_api(output: str) -> str:
    """SHOW up to the API nodes: those of the recording had no program behind them."""
    return output.partition("[mysqld(API)]")[0]


def recorded(version: str, spare: int = 0, servers: int = 1) -> Plan:
    """8.4.8: nodes 1, 2 and 3, 4 on hosts 10.24.0.N; 7.4.10: nodes 2, 3 and 4, 5 on 127.0.0.1."""
    plan, is_old = two_by_two(version), version.startswith("7")
    model = plan.data_nodes[0]
    net = "10.25" if spare else "10.24"
    ids = [2, 3, 4, 5] if is_old else [1, 2, 3, 4, *range(5, 5 + spare)]
    server_ids = [1] if is_old else [51, 52][:servers]
    slots = [52, 53, 54] if is_old else [*([61] if spare else [61, 62]), *range(240, 246)]
    hosts: dict[str, Host] = {}

    def host(node_id: int) -> str:
        name = "127.0.0.1" if is_old else f"{net}.0.{node_id}"
        old = plan.host(model.host_id)
        disks = tuple(disk.model_copy(update={"id": f"{name}-{disk.id}"}) for disk in old.disks)
        hosts[name] = old.model_copy(update={"id": name, "hostname": name, "disks": disks})
        return name

    roles = type(model.disk_roles)()
    processes: list[Any] = [
        model.model_copy(
            update={
                "id": f"n{i}",
                "node_id": i,
                "host_id": host(i),
                "disk_roles": roles,
                "node_group": NODE_GROUP_NONE if i > 4 and not is_old else (i - ids[0]) // 2,
            }
        )
        for i in ids
    ]
    processes += [
        plan.management_nodes[0].model_copy(update={"id": f"m{i}", "node_id": i, "host_id": host(i)})
        for i in server_ids
    ]
    if is_old:
        processes += [SqlNode(id=f"s{i}", node_id=i, host_id=host(i)) for i in (50, 51)]
    for i in slots:
        processes.append(ApiSlot(id=f"a{i}", node_id=i, host_id=host(i) if i < 100 and not is_old else None))
    return plan.replace(hosts=tuple(hosts.values()), processes=tuple(processes))


def data_node_ids(plan: Plan) -> list[int]:
    return [p.node_id for p in plan.processes if isinstance(p, DataNode)]
