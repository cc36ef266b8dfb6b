"""Results as people read them in a terminal: aligned tables made from the same shapes that --json prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ndbplan.base.units import MEMORY, format_value

_WORDS = {
    "ldm": "LDM",
    "lcp": "LCP",
    "gcp": "GCP",
    "ram": "RAM",
    "cpu": "CPU",
    "tc": "TC",
    "var": "variable",
    "node_id": "node",
    "node_ids": "nodes",
    "bytes_per_replica": "bytes for each replica",
    "bytes_moved": "bytes moved",
    "time_to_full_s": "full without a checkpoint",
    "overflow_after_s": "full under this load after",
}
_NAMES = {
    "node_id",
    "node_ids",
    "nodes",
    "primary",
    "partition",
    "code",
    "seed",
    "ldm",
    "node_group",
    "log_part",
}
_MEMORY_WORDS = {"memory", "ram", "buffer"}
_IN_MEMORY = {
    "fixed_bytes",
    "var_bytes",
    "hash_index_bytes",
    "ordered_index_bytes",
    "unique_index_bytes",
    "blob_bytes",
    "headroom_bytes",
    "data_nodes_bytes",
}
"""Bytes in memory whose key does not say so: of tables, of data nodes on a host."""
_ON_DISK = {"memory_full_bytes"}
"""Files when DataMemory is full."""
_KEYS = re.compile(r"[a-z0-9_]++(?:\.[a-z0-9_]++)*+").fullmatch
_CHOSEN = {"figure", "role", "purpose", "restart"}
"""Whose values are names of the program: where a figure stands, what a disk is for, what restarts."""
_FRACTIONS = ("utilisation", "fill", "fraction", "skew", "share", "hit_ratio")


def is_quantity(value: object) -> bool:
    """Whether a JSON value is an estimated number."""
    return isinstance(value, Mapping) and {"value", "low", "high", "unit"} <= value.keys()


def text_of(key: str, value: Any) -> str:
    """One value as it stands in a table; the key says which unit a plain number has."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return ", ".join(map(heading, value.split("."))) if key in _CHOSEN and _KEYS(value) else value
    if isinstance(value, int | float):
        return str(value) if key in _NAMES else format_value(float(value), unit_of(key))
    if is_quantity(value):
        unit = as_memory(key, value["unit"])
        middle = format_value(value["value"], unit)
        if value["low"] == value["high"]:
            return middle
        low, high = (format_value(value[end], unit) for end in ("low", "high"))
        return f"{middle} ({low} … {high})"
    if isinstance(value, Mapping):
        if value.keys() == {"resource", "where", "text"}:
            return str(value["text"])
        return ", ".join(f"{heading(k)} {text_of(k, v)}" for k, v in value.items())
    return ", ".join(text_of(key, part) for part in value) or "—"


def is_name(key: str) -> bool:
    """Whether the numbers of this key are names, such as those of nodes."""
    return key in _NAMES


def unit_of(key: str) -> str:
    """The unit that the name of a plain number says; nothing: it is counted."""
    if key.endswith("_percent"):
        return "%"
    if key.endswith("_bytes_per_s"):
        return "bytes/s"
    if key.endswith("_per_s"):
        return "/s"
    if "bps" in key.split("_"):
        return "bytes/s"
    if key.endswith("_s"):
        return "s"
    if "bytes" in key.split("_"):
        return as_memory(key, "bytes")
    if any(word in key for word in _FRACTIONS):
        return "fraction"
    return ""


def as_memory(key: str, unit: str) -> str:
    """The unit of a number with this key: memory is counted in GiB, disks and what travels in GB."""
    in_memory = key in _IN_MEMORY or not _MEMORY_WORDS.isdisjoint(key.split("_"))
    return MEMORY if unit == "bytes" and in_memory and key not in _ON_DISK else unit


def heading(key: str) -> str:
    """`duration_s` → `duration`: the unit stands with the number."""
    if key in _WORDS:
        return _WORDS[key]
    parts = [part for part in key.split("_") if part not in ("bps", "bytes")]
    if len(parts) > 1 and parts[-1] == "s":
        parts = parts[:-2] if parts[-2] == "per" else parts[:-1]
    return " ".join(_WORDS.get(part, part) for part in parts or [key])


def _rows_of_objects(value: object) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and bool(value)
        and all(isinstance(part, Mapping) and not is_quantity(part) for part in value)
    )


def lines_of(shape: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """The lines of a result: single values first, then a table or a section for each part.

    What there is none of has no line; in a table it is a dash.
    """
    plain = {k: v for k, v in shape.items() if not _is_section(v) and v is not None}
    width = max((len(heading(k)) for k in plain), default=0)
    for key, value in plain.items():
        yield f"{indent}{heading(key):<{width}}  {text_of(key, value)}"
    for key, value in shape.items():
        if value is None or not _is_section(value):
            continue
        yield ""
        yield f"{indent}{heading(key).upper()}"
        if isinstance(value, Mapping):
            yield from lines_of(value, indent + "  ")
        else:
            yield from _table_or_blocks(value, indent + "  ")


def _is_section(value: object) -> bool:
    if isinstance(value, Mapping) and not is_quantity(value):
        return any(isinstance(v, Mapping | list | tuple) for v in value.values()) or len(value) > 3
    return _rows_of_objects(value)


def _table_or_blocks(rows: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    if not any(_rows_of_objects(value) for row in rows for value in row.values()):
        yield from table(rows, indent)
        return
    for i, row in enumerate(rows):
        if i:
            yield ""
        yield from lines_of(row, indent)


def table(rows: Sequence[Mapping[str, Any]], indent: str = "") -> Iterator[str]:
    """Rows as an aligned table, numbers to the right."""
    keys = list(dict.fromkeys(key for row in rows for key in row if key != "why"))
    cells = [[text_of(key, row.get(key)) for key in keys] for row in rows]
    titles = [heading(key) for key in keys]
    widths = [max(len(title), *(len(row[i]) for row in cells)) for i, title in enumerate(titles)]
    right = [all(not isinstance(row.get(key), str) for row in rows) for key in keys]

    def line(texts: Sequence[str]) -> str:
        return (
            indent
            + "  ".join(
                text.rjust(width) if to_right else text.ljust(width)
                for text, width, to_right in zip(texts, widths, right, strict=True)
            ).rstrip()
        )

    yield line(titles)
    for row in cells:
        yield line(row)


def derivations(shape: Any, path: str = "") -> Iterator[str]:
    """For every estimated number of a result: what it is made of, as an indented tree."""
    if is_quantity(shape):
        if shape.get("why"):
            yield ""
            yield f"{path} = {text_of('', shape)}"
            yield from _terms(shape["why"], "  ")
    elif isinstance(shape, Mapping):
        for key, value in shape.items():
            yield from derivations(value, f"{path}, {heading(key)}" if path else heading(key))
    elif isinstance(shape, Sequence) and not isinstance(shape, str):
        for part in shape:
            yield from derivations(part, f"{path} {_name_of(part)}".strip())


def _name_of(part: Any) -> str:
    if not isinstance(part, Mapping):
        return ""
    return " ".join(str(v) for k, v in part.items() if isinstance(v, str) or k in _NAMES)[:80]


def _terms(terms: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    for term in terms:
        source = f"  [{term['source']}]" if term.get("source") else ""
        yield f"{indent}{term['term']}: {format_value(term['value'], term['unit'])}{source}"
        yield from _terms(term.get("why", ()), indent + "  ")


def problem_lines(problems: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Problems of a plan as paragraphs, worst first, and how many there are of each severity."""
    counts = {"error": 0, "warning": 0, "hint": 0}
    for problem in problems:
        counts[problem["severity"]] += 1
        yield f"{problem['severity']:<7}  {problem['where']} ({problem['rule']})"
        yield f"         {problem['message']}"
        ways = problem["solutions"]
        for number, way in enumerate(ways):
            mark = "recommended: " if number == 0 and len(ways) > 1 else ""
            yield f"         → {way['title']} — {mark}{way['why']}"
        if problem["fix"] and not ways:
            yield f"         → {problem['fix']}"
        yield ""
    yield ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for name, n in counts.items())


def waived_lines(shape: Mapping[str, Any]) -> Iterator[str]:
    """Problems that the designer accepts, with the reasons, and waivers that accept nothing."""
    for problem in shape["waived"]:
        yield f"accepted {problem['where']} ({problem['rule']})"
        yield f"         {problem['message']}"
        yield f"         because: {problem['reason']}"
        yield ""
    for waiver in shape["waivers"]:
        if not waiver["problems"]:
            yield f"accepted {waiver['address']} accepts no problem any more: {waiver['reason']}"
            yield ""


def finding_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """What an import noticed and changed, file by file."""
    for finding in report["findings"]:
        place = finding["file"] if finding["line"] is None else f"{finding['file']}:{finding['line']}"
        yield f"{finding['severity']:<7}  {place}  {finding['message']}"
        if finding["fix"]:
            yield f"         → {finding['fix']}"
    yield from report["changes"]
    for read in report["read"]:
        yield f"read {read['file']} as {read['kind']}"
    if any(read["kind"] == "config" for read in report["read"]):
        taken = "would be accepted" if report["accepted"] else "would be REFUSED"
        yield f"for NDB {report['version']}; {taken} by ndb_mgmd"
    yield from (f"wrote {name}" for name in report["files"])
