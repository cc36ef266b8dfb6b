"""Requirements of one table and one load, on two classes of hosts, that tests of sizing begin with."""

from __future__ import annotations

from typing import Any

from ndbplan.advise.sizing.choices import Choice, choices, client_host
from ndbplan.advise.sizing.search import Sized, size
from ndbplan.importing.requirements import Wanted, put_together
from ndbplan.plan.hardware import Host
from ndbplan.plan.requirements import Requirements

GIB = 2**30
DISK = {"kind": "nvme", "capacity_bytes": 10**12, "sequential_read_bytes_per_s": 2e9,
         "sequential_write_bytes_per_s": 1e9, "random_read_iops": 3e5, "random_write_iops": 1e5}  # fmt: skip


def own_host(name: str, cores: int, memory_gib: int, price: float) -> dict[str, Any]:
    host = {"cores": cores, "memory_bytes": memory_gib * GIB, "purchase_price": price}
    disk = {**DISK, "name": "disk0", "purchase_price": 0.0}
    return {"kind": "host", "name": name, "host": host, "disks": [disk]}


SMALL = own_host("small", 8, 32, 2000)
LARGE = own_host("large", 16, 128, 7000)
SQL = """CREATE TABLE d.account (
  id BIGINT UNSIGNED NOT NULL PRIMARY KEY, owner INT UNSIGNED, note VARCHAR(200)) ENGINE=NDB"""
PAY = {"table": "d.account", "kind": "update", "columns": ["owner"]}
BEGUN: dict[str, Any] = {
    "sql": SQL,
    "rows": {"d.account": {"now": "270M", "growth_per_month": "1M"}},
    "loads": [
        {
            "name": "pay",
            "peak_per_s": "2k",
            "lasts": "20s",
            "transactions": [
                {
                    "name": "pay",
                    "operations": [{"table": "d.account", "kind": "update", "columns": ["owner"]}],
                }
            ],
        }
    ],
    "most_groups": 4,
    "currency": "EUR",
    "hardware": {
        "hosts": ["small", "large"],
        "layouts": ["as it is"],
        "own": [SMALL, LARGE],
        "clients": "small",
    },
}


def asked_for(**stated: Any) -> Wanted:
    return put_together(Requirements.model_validate({**BEGUN, **stated}), None)


def classes_of(wanted: Wanted) -> tuple[Choice, ...]:
    return choices(wanted.requirements, wanted.source, wanted.own)


def clients_of(wanted: Wanted) -> Host:
    return client_host(wanted.requirements, wanted.source, wanted.own)


def sized_for(wanted: Wanted, classes: tuple[Choice, ...] | None = None) -> Sized:
    return size(wanted.requirements, wanted.begun, classes or classes_of(wanted), clients_of(wanted))
