"""Plans that failures are tried on: recorded clusters, and two groups over racks."""

from __future__ import annotations

from typing import Any

from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, SqlNode

GIB = 2**30


def plan_of_course(row: dict[str, Any]) -> Plan:
    """The cluster of a recorded course, each process on a host of its own."""
    processes: list[Any] = []
    for number, group in enumerate([*row["groups"], row.get("spare", [])]):
        for node_id in group:
            stated = 65536 if number == len(row["groups"]) else number
            processes.append(
                DataNode(id=f"d{node_id}", node_id=node_id, host_id=f"h{node_id}", node_group=stated)
            )
    for candidate in row["candidates"]:
        kind = ManagementNode if candidate["management"] else ApiSlot
        node_id = candidate["node_id"]
        processes.append(
            kind(
                id=f"m{node_id}",
                node_id=node_id,
                host_id=f"h{node_id}",
                parameters={"ArbitrationRank": candidate["rank"]},
            )
        )
    stated_for_all: Parameters = {"NoOfReplicas": len(row["groups"][0])}
    if "arbitration" in row:
        stated_for_all = {**stated_for_all, "Arbitration": row["arbitration"]}
    return Plan(
        ndb_version=row["version"],
        hosts=tuple(Host(id=p.host_id, hostname=p.host_id, memory_bytes=GIB) for p in processes),
        processes=tuple(processes),
        parameters=ClusterParameters(data_node=stated_for_all),
    )


def small(**fields: Any) -> Plan:
    """Two groups of two over racks A and B, a management node in rack C, everything on disks of its own."""

    def host(name: str, rack: str | None, disks: int = 2) -> Host:
        devices = tuple(
            Disk(
                id=f"{name}-d{i}",
                name=f"nvme{i}",
                capacity_bytes=100 * GIB,
                sequential_read_bytes_per_s=1e9,
                sequential_write_bytes_per_s=1e9,
                random_read_iops=1e5,
                random_write_iops=1e5,
                mount_point=f"/disk{i}",
            )
            for i in range(disks)
        )
        return Host(
            id=name, hostname=f"{name}.example", location_id=rack, memory_bytes=64 * GIB, disks=devices
        )

    base = Plan(
        locations=tuple(Location(id=rack, name=f"Rack {rack.upper()}") for rack in ("a", "b", "c")),
        hosts=(host("a1", "a"), host("a2", "a"), host("b1", "b"), host("b2", "b"), host("c1", "c", 1)),
        processes=(
            DataNode(id="n1", node_id=1, host_id="a1"),
            DataNode(id="n2", node_id=2, host_id="b1"),
            DataNode(id="n3", node_id=3, host_id="a2"),
            DataNode(id="n4", node_id=4, host_id="b2"),
            ManagementNode(id="m", node_id=51, host_id="c1"),
            SqlNode(id="s", node_id=60, host_id="c1", pool_node_ids=(61, 62)),
            ApiSlot(id="free", node_id=70),
        ),
    )
    return base.replace(**fields)
