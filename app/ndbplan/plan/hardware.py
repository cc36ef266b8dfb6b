"""Locations, hosts and disks."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ndbplan.plan.fields import (
    Assumable,
    BytesPerS,
    Fraction,
    Hostname,
    Id,
    Label,
    PathText,
    Point,
    PositiveBytes,
    Price,
    Ref,
    Seconds,
    Watts,
)


class DiskKind(StrEnum):
    """What a device is; decides how mixed streams share it."""

    HDD = "hdd"
    SATA_SSD = "sata_ssd"
    NVME = "nvme"
    CLOUD = "cloud"


class RaidLevel(StrEnum):
    """How several devices make one disk."""

    STRIPED = "0"
    MIRRORED = "1"
    STRIPED_MIRRORS = "10"
    PARITY = "5"


class ServiceManager(StrEnum):
    """What starts the processes of a host with it, and stops and restarts them."""

    SYSTEMD = "systemd"
    INIT_SCRIPTS = "init_scripts"


class Location(Assumable):
    """A rack, room, site or availability zone."""

    id: Id
    name: Label
    parent_id: Annotated[Id | None, Ref("locations", gone="clear")] = None
    """The location that it lies in: the room of a rack, the site of a room."""
    location_domain_id: int | None = Field(default=None, ge=0, le=16)
    """LocationDomainId for the processes inside, unless a location in it states another; None: not set."""
    uplink_bytes_per_s: BytesPerS | None = None
    """What it can send to, or receive from, all that lies outside of it; None: not a limit."""
    purchase_price: Price | None = None
    """Paid once, for the place itself with its switch and uplink; prices that are None are not stated."""
    monthly_price: Price | None = None
    watts: Watts | None = None
    position: Point | None = None


class Disk(Assumable):
    """One device of a host, or several that make one disk; capacity and speeds are those of all together."""

    id: Id
    name: Label
    kind: DiskKind = DiskKind.NVME
    raid: RaidLevel | None = None
    """How its devices are put together; None: it is one device."""
    devices: int = Field(default=1, ge=1, le=64)
    capacity_bytes: PositiveBytes
    sequential_read_bytes_per_s: BytesPerS
    sequential_write_bytes_per_s: BytesPerS
    random_read_iops: float = Field(ge=1, le=1e9)
    random_write_iops: float = Field(ge=1, le=1e9)
    sync_write_latency_s: Seconds = 0.0
    """Time of one small synchronous write."""
    mount_point: PathText = "/data"
    other_load: Fraction = 0.0
    """Share of the device that other programs of the host take."""
    purchase_price: Price | None = None
    """Paid once, for all its devices together; prices that are None are not stated."""
    monthly_price: Price | None = None
    watts: Watts | None = None


class Host(Assumable):
    """A machine."""

    id: Id
    hostname: Hostname
    location_id: Annotated[Id | None, Ref("locations", gone="clear")] = None
    cores: int = Field(default=8, ge=1, le=4096)
    sockets: int = Field(default=1, ge=1, le=64)
    clock_ghz: float = Field(default=2.5, ge=0.1, le=20)
    core_gain_per_clock: float | None = Field(default=None, ge=0.01, le=20)
    """Work of a core for each clock against one of 2008 (Core 2: 1); None: a current one."""
    memory_bytes: PositiveBytes
    network_bytes_per_s: BytesPerS = 1.17e9
    """Usable bytes per second of its link in one direction."""
    purchase_price: Price | None = None
    """Paid once, without the disks that state a price of their own; prices that are None are not stated."""
    monthly_price: Price | None = None
    watts: Watts | None = None
    service_manager: ServiceManager = ServiceManager.SYSTEMD
    """What starts, stops and restarts its nodes: units of systemd, or scripts in /etc/init.d."""
    disks: tuple[Disk, ...] = Field(default=(), max_length=1000)
    position: Point | None = None
    """Where it stands outside of any location."""
    slot: Point | None = None
    """Where it stands in its location, from that one's corner; None: in the order of the plan."""
