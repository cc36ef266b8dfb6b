"""What is read of texts that people hand over: statements, configurations, statistics and measurements.

`inputs/texts.json` holds texts that the readers' tests hand over, by what they are; a statement stands beside
the release that it is read for.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from golden.text import lines_of
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity

_FILE = Path(__file__).parent / "inputs" / "texts.json"
_LONGEST_TEXT = 100
RELEASE = "8.4.8"


@cache
def _texts() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def kinds() -> tuple[str, ...]:
    """What the texts are."""
    return tuple(_texts())


def read_texts(kind: str) -> Iterator[str]:
    """Each text of a kind, shortened, and what was read of it."""
    read = _READERS.get(kind, _imported)
    for given in _texts()[kind]:
        release, text = (RELEASE, given) if isinstance(given, str) else (given[0] or RELEASE, given[1])
        yield f"## {release}: {' '.join(text.split())[:_LONGEST_TEXT]}"
        try:
            yield from read(text, release)
        except UserError as refused:
            yield f"refused: {refused}"


def _imported(text: str, release: str) -> Iterator[str]:
    from ndbplan.importing.files import import_files
    from ndbplan.plan.file import dumps
    from ndbplan.plan.plan import EMPTY_PLAN

    is_config = text in _texts()["configurations"]
    name = "config.ini" if is_config else "tables.sql"
    done = import_files({name: text.encode()}, version=None if is_config else release, lenient=True)
    empty = set(lines_of(json.loads(dumps(EMPTY_PLAN))))
    yield from (line for line in lines_of(json.loads(dumps(done.plan))) if line not in empty)
    for one in done.findings:
        yield f"{one.severity} {one.line or ''}: {one.message} — {one.fix}"


def shape(value: Any) -> Any:
    """Of what was read, what `lines_of` takes: what is not stated is left out."""
    if isinstance(value, Quantity):
        value = value.to_json()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", exclude_defaults=True)
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): shape(part) for key, part in value.items() if not _is_empty(part)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shape(part) for part in value]
    return value if isinstance(value, int | float | str) or value is None else str(value)


def _is_empty(part: Any) -> bool:
    return part is None or (isinstance(part, Mapping | Sequence) and not part)


def _plain(read: Callable[[str], Any]) -> Callable[[str, str], Iterator[str]]:
    return lambda text, _release: lines_of(shape(read(text)))


def _management(text: str) -> Any:
    from ndbplan.importing.management_client import read_answers

    return read_answers(text)


def _measurements(text: str) -> Any:
    from ndbplan.importing.measurements import read_measurements

    return read_measurements(text)


def _statistics(text: str) -> Any:
    from ndbplan.importing.statistics import read_statistics

    return read_statistics(text)


def _series(text: str) -> Any:
    from ndbplan.importing.measured_series import read_measured

    return read_measured(text)


def _schedules(text: str) -> Any:
    from ndbplan.importing.load_schedule import read_load_schedule

    return [read_load_schedule(text), read_load_schedule(text, "step", 3600.0)]


def _options(text: str) -> Any:
    from ndbplan.importing.my_cnf import with_options
    from ndbplan.plan.samples import sample_plan

    read = with_options(sample_plan("starter"), text, "my.cnf")
    return [[node.options for node in read.plan.sql_nodes], read.changes, read.noticed]


_READERS: Mapping[str, Callable[[str, str], Iterator[str]]] = {
    "management": _plain(_management),
    "measurements": _plain(_measurements),
    "statistics": _plain(_statistics),
    "series": _plain(_series),
    "schedules": _plain(_schedules),
    "options": _plain(_options),
}
