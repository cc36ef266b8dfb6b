"""Reads what people measured: fio's JSON, iostat -x, tables of ndbinfo as the mysql client prints them.

    read_measurements(text)[0].values["restore_s"]

The kind of text is recognised, units are read from its headings; `exchange.calibrate` puts it into a plan.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.shapes import Shape
from ndbplan.base.units import KIB, MIB, TwoReadingsError, refuse_group, whole_number

Kind = Literal["fio", "iostat", "restart_info", "disk_write_speed"]
MOST_BYTES = 20_000_000
_BUSY = 0.3
"""Below this utilisation iostat says nothing about what a device can do."""
_SEQUENTIAL_BLOCK = 64 * KIB


class MeasurementError(UserError):
    """A measurement that cannot be read or used."""


class NoMeasurementError(MeasurementError):
    """A text that holds nothing of what is read."""


@dataclass(frozen=True, slots=True)
class Measurement(Shape):
    """One thing that was measured: a device, or one data node's restart."""

    JSON = "kind name node_id values"

    kind: Kind
    name: str
    """Job or device, or `node 3`."""
    node_id: int | None
    values: dict[str, float]
    """By name with the unit in it, SI."""
    host: str = ""
    """The machine, as iostat names it in its first line; empty when it does not."""


def read_measurements(text: str) -> tuple[Measurement, ...]:
    """Everything measured in a text, of all kinds. Raises NoMeasurementError when nothing is recognised."""
    if len(text) > MOST_BYTES:
        raise MeasurementError(
            f"the text has {len(text)} characters, at most {MOST_BYTES} are read",
            fix="cut out the part that matters",
        )
    measurements = tuple(one for reader in (_fio, _iostat, _ndbinfo) for one in reader(text))
    if measurements:
        return measurements
    if _WITHOUT_X.search(text):
        raise MeasurementError(
            "iostat without -x does not say how busy a device was", fix="run iostat -xk 10 under load"
        )
    raise NoMeasurementError(
        "the text is none of those that are read",
        fix="give fio's --output-format=json, iostat -x, or a SELECT from ndbinfo.restart_info",
    )


def _number(text: object) -> float | None:
    """A number with point or comma; None for anything else, infinity and not-a-number included."""
    if isinstance(text, bool) or text is None:
        return None
    try:
        refuse_group(str(text).replace(".", " "))
    except TwoReadingsError as error:
        raise MeasurementError(error.what, fix=error.fix) from None
    try:
        value = float(text if isinstance(text, int | float) else str(text).strip().replace(",", "."))
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


_SIZES = {"": 1, "b": 1, "k": KIB, "kb": KIB, "kib": KIB, "m": MIB, "mb": MIB, "mib": MIB}


def _block_bytes(text: object) -> int:
    """fio's block size: `4k`, `1M`, `4k,64k` (read, write); 4096 when it is not stated."""
    match = re.match(r"\s*([0-9]+)\s*([a-z]*)", str(text or "4k").lower())
    number = whole_number(match[1], most=2**40) if match else None
    return number * _SIZES.get(match[2], 1) if match and number else 4096


def _fio(text: str) -> Iterator[Measurement]:
    start = text.find("{")
    if start < 0 or '"jobs"' not in text:
        return
    try:
        document, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        raise MeasurementError(
            "the JSON of fio is cut off or broken", fix="save fio's output once more"
        ) from None
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        return
    shared = document.get("global options")
    shared = shared if isinstance(shared, dict) else {}
    merged: dict[str, dict[str, float]] = {}
    for job in jobs:
        if not isinstance(job, dict):
            continue
        own = job.get("job options")
        options = {**shared, **(own if isinstance(own, dict) else {})}
        values = _fio_job(job, options)
        kept = merged.setdefault(str(job.get("jobname", "fio"))[:60], {})
        for name, value in values.items():
            # Threads of one job add up; their latencies are averaged with equal weight.
            if name.endswith("latency_s"):
                kept[name] = (kept[name] + value) / 2 if name in kept else value
            else:
                kept[name] = kept.get(name, 0.0) + value
    for name, values in merged.items():
        if values:
            yield Measurement("fio", name, None, values)


def _fio_job(job: dict[str, Any], options: dict[str, Any]) -> dict[str, float]:
    values: dict[str, float] = {}
    mode = str(options.get("rw", options.get("readwrite", ""))).lower()
    block = _block_bytes(options.get("bs", options.get("blocksize")))
    random = mode.startswith("rand")
    for side in ("read", "write"):
        part = job.get(side)
        if not isinstance(part, dict):
            continue
        speed, iops = _number(part.get("bw_bytes")), _number(part.get("iops"))
        if speed is None and (kib := _number(part.get("bw"))) is not None:
            speed = kib * KIB
        if not speed:
            continue
        if random or (not mode and block < _SEQUENTIAL_BLOCK):
            if iops:
                values[f"random_{side}_iops"] = iops
        elif block >= _SEQUENTIAL_BLOCK:
            values[f"sequential_{side}_bytes_per_s"] = speed
        if side == "write" and _is_synchronous(options):
            latency = _mean_s(part, "lat") or _mean_s(part, "clat") or 0.0
            latency += _mean_s(job.get("sync"), "lat") or 0.0
            if latency:
                values["sync_write_latency_s"] = latency
    return values


def _is_synchronous(options: dict[str, Any]) -> bool:
    return any(str(options.get(name, "0")) not in ("0", "none") for name in ("fsync", "fdatasync", "sync"))


def _mean_s(part: object, name: str) -> float | None:
    """Mean latency in seconds: fio 3 counts in nanoseconds, fio 2 in microseconds."""
    if not isinstance(part, dict):
        return None
    for key, factor in ((f"{name}_ns", 1e-9), (name, 1e-6)):
        entry = part.get(key)
        mean = _number(entry.get("mean")) if isinstance(entry, dict) else None
        if mean:
            return mean * factor
    return None


_WRITE_COLUMNS = {"wkb/s": KIB, "wmb/s": MIB, "wsec/s": 512, "kb_wrtn/s": KIB, "mb_wrtn/s": MIB}
_READ_COLUMNS = {"rkb/s": KIB, "rmb/s": MIB, "rsec/s": 512, "kb_read/s": KIB, "mb_read/s": MIB}


_WITHOUT_X = re.compile(r"^Device:?\s+tps\s", re.M)
_MACHINE = re.compile(r"^Linux \S+ \(([^)\s]+)\)\s")
"""The first line of iostat: kernel and name of the machine."""
_HUMAN = {"B": 1 / KIB, "k": 1.0, "M": float(KIB), "G": float(KIB * KIB), "%": 1.0}
"""Units that --human puts behind numbers, in KiB; the heading goes on saying kB."""


def _iostat(text: str) -> Iterator[Measurement]:
    best: dict[tuple[str, str], dict[str, float]] = {}
    for host, device, values, _ in iostat_reports(text):
        # The busiest moment of a device says most about what it can do.
        busiest = best.get((host, device), {"utilisation": -1.0})["utilisation"]
        if values and values["utilisation"] >= busiest:
            best[host, device] = values
    for (host, device), values in best.items():
        yield Measurement("iostat", device, None, values, host)


class Report(NamedTuple):
    """What one report of iostat says of one device."""

    host: str
    device: str
    values: dict[str, float]
    """By name with the unit in it, SI; nothing where it does not say how busy the device was."""
    moment: str
    """As -t prints it; nothing without."""


_Sample = tuple[str, str, dict[str, float | None], str]
_MOMENT = re.compile(
    r"(?:Time: )?((?:[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}[ T])?[0-9:]{5,8}[0-9:+Z]*(?: [AP]M)?)$"
)
"""Before each report; sysstat of 2010 wrote the time of day alone."""


def iostat_reports(text: str) -> Iterator[Report]:
    """Every device of every report, in the order of the text. Raises MeasurementError for broken JSON."""
    for host, device, row, moment in (*_iostat_rows(text), *_iostat_json(text)):
        yield Report(host, device, _iostat_row(row), moment)


def _iostat_rows(text: str) -> Iterator[_Sample]:
    """Machine, device, columns, moment of each sample; --human puts the device last and parts a sample."""
    host, moment, is_last = "", "", False
    header: list[str] = []
    parts: dict[str, dict[str, float | None]] = {}
    for line in text.splitlines():
        words = line.split()
        if (machine := _MACHINE.match(line)) is not None:
            host, parts = machine[1], {}
        elif (dated := _MOMENT.match(line.strip())) is not None:
            moment = dated[1]
        marks = [word.lower().rstrip(":") == "device" for word in words]
        if marks and (marks[0] or marks[-1]):
            is_last = not marks[0]
            header = [word.lower() for word in (words[:-1] if is_last else words[1:])]
            continue
        if not words:
            header = []
        if not header or len(words) != len(header) + 1:
            continue
        device = words.pop(-1 if is_last else 0)
        row = dict(zip(header, map(_human, words), strict=True))
        if is_last:
            row = {**parts.get(device, {}), **row}
            parts[device] = {} if "%util" in row else row
        yield host, device, row, moment


def _human(text: str) -> float | None:
    factor = _HUMAN.get(text[-1:])
    value = _number(text if factor is None else text[:-1])
    return value if value is None or factor is None else value * factor


def _iostat_json(text: str) -> Iterator[_Sample]:
    """The same of `iostat -o JSON`."""
    start = text.find('{"sysstat"')
    if start < 0:
        return
    try:
        document, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        raise MeasurementError(
            "the JSON of iostat is cut off or broken", fix="let it end by itself: iostat -x -o JSON 10 6"
        ) from None
    for machine in _objects(document["sysstat"], "hosts"):
        for sample in _objects(machine, "statistics"):
            for disk in _objects(sample, "disk"):
                row = {name.lower(): _number(value) for name, value in disk.items()}
                yield (
                    str(machine.get("nodename", "")),
                    str(disk.get("disk_device", "")),
                    {
                        **row,
                        "%util": row.get("util"),
                    },
                    str(sample.get("timestamp", "")),
                )


def _objects(part: object, name: str) -> list[dict[str, Any]]:
    entries = part.get(name) if isinstance(part, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _iostat_row(row: dict[str, float | None]) -> dict[str, float]:
    busy = row.get("%util")
    if busy is None:
        return {}
    values = {"utilisation": busy / 100}
    for names, key in ((_WRITE_COLUMNS, "write_bytes_per_s"), (_READ_COLUMNS, "read_bytes_per_s")):
        for name, factor in names.items():
            speed = row.get(name)
            if speed is not None:
                values[key] = speed * factor
    for name, key in (("w/s", "writes_per_s"), ("r/s", "reads_per_s")):
        rate = row.get(name)
        if rate is not None:
            values[key] = rate
    waits = row.get("w_await", row.get("await"))
    if waits is not None:
        values["write_wait_s"] = waits / 1000
    if values["utilisation"] >= _BUSY and values.get("write_bytes_per_s"):
        values["sequential_write_bytes_per_s"] = values["write_bytes_per_s"] / min(1.0, values["utilisation"])
    return values


def table_rows(text: str) -> Iterator[dict[str, str]]:
    """Rows of a table as the mysql client prints it: in boxes, one value a line (\\G), or apart by tabs."""
    header: list[str] | None = None
    vertical: dict[str, str] = {}
    for line in text.splitlines():
        stripped = line.strip()
        if len(stripped) >= 10 and stripped[:5] == stripped[-5:] == "*****":
            if vertical:
                yield vertical
            vertical, header = {}, None
        elif stripped.startswith("|"):
            cells = [cell.strip() for cell in stripped.strip("|").split("|")]
            if header is None or len(cells) != len(header):
                header = cells
            else:
                yield dict(zip(header, cells, strict=True))
        elif "\t" in line:
            cells = [cell.strip() for cell in line.split("\t")]
            if header is None or len(cells) != len(header):
                header = cells
            else:
                yield dict(zip(header, cells, strict=True))
        elif (match := re.fullmatch(r"([a-z][a-z0-9_]*): ?(.*)", stripped)) is not None:
            vertical[match[1]] = match[2]
    if vertical:
        yield vertical


_RESTART_COLUMNS = {
    "secs_to_complete_node_failure": "early_s",
    "secs_to_allocate_node_id": "early_s",
    "secs_to_include_in_heartbeat_protocol": "early_s",
    "secs_until_wait_for_ndbcntr_master": "early_s",
    "secs_wait_for_ndbcntr_master": "early_s",
    "secs_to_get_start_permitted": "early_s",
    "secs_to_wait_for_lcp_for_copy_meta_data": "early_s",
    "secs_to_copy_meta_data": "early_s",
    "secs_to_include_node": "early_s",
    "secs_starting_node_to_request_local_recovery": "early_s",
    "secs_restore_fragments": "restore_s",
    "secs_undo_disk_data": "undo_s",
    "secs_exec_redo_log": "redo_s",
    "secs_index_rebuild": "index_s",
    "secs_to_synchronize_starting_node": "copy_s",
    "secs_wait_lcp_for_restart": "lcp_wait_s",
    "secs_wait_subscription_handover": "subscription_s",
    "total_restart_secs": "total_s",
}
"""Columns of ndbinfo.restart_info, and the phase each is part of."""

_SPEED_COLUMNS = {
    "backup_lcp_speed_last_60sec": "checkpoint_bytes_per_s",
    "redo_speed_last_60sec": "redo_bytes_per_s",
    "current_target_disk_write_speed": "checkpoint_target_bytes_per_s",
}
"""Columns of ndbinfo.disk_write_speed_aggregate, one row for each LDM thread."""


def _ndbinfo(text: str) -> Iterator[Measurement]:
    speeds: dict[int, dict[str, float]] = {}
    for row in table_rows(text):
        lower = {name.lower(): value for name, value in row.items()}
        node = _number(lower.get("node_id"))
        if node is None or not 1 <= node <= 255:
            continue
        if "secs_restore_fragments" in lower:
            values: dict[str, float] = {}
            for column, name in _RESTART_COLUMNS.items():
                seconds = _number(lower.get(column))
                if seconds is not None:
                    values[name] = values.get(name, 0.0) + seconds
            if values:
                yield Measurement("restart_info", f"node {int(node)}", int(node), values)
        elif "backup_lcp_speed_last_60sec" in lower:
            sums = speeds.setdefault(int(node), {})
            for column, name in _SPEED_COLUMNS.items():
                speed = _number(lower.get(column))
                if speed is not None:
                    sums[name] = sums.get(name, 0.0) + speed
    for node_id, sums in speeds.items():
        yield Measurement("disk_write_speed", f"node {node_id}", node_id, sums)
