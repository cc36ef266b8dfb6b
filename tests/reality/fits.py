"""How well constants fit the runs they were fitted on, and the runs that are left out when they are.

    PYTHONPATH=app:tests .venv/bin/python -m reality.fits           # the table
    PYTHONPATH=app:tests .venv/bin/python -m reality.fits --write   # and into resources/ndb/constants.json

For each constant: mean error of what it is fitted to, on the scale of logarithms, as it is; and when one run
after the other is left out, the constant is chosen anew from the others between the ends of its range, and
that run is predicted. `without`: the same when the law is switched off, for laws that can be. A law whose
error without it is no larger than with a run left out does not earn its place.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean

from ndbplan.base.resources import resource_path
from ndbplan.ndb.constants import Constant, constant, era_of
from ndbplan.ndb.version import NdbVersion
from reality import measured_times as times
from reality.calibrated import constant_as
from reality.load_runs import runs
from reality.measured import Measured
from reality.measured_load import outcomes_of

DRAWS = 100
STEPS = 4
"""Values that are tried of each constant, from one end of its range to the other."""
PAUSES = ("lcp_thread_weight", "lcp_stage_s", "lcp_begin_stage_s", "lcp_flushes_after", "lcp_first_s")
_LEAST = 1e-9


@dataclass(frozen=True)
class Fit:
    """A constant and what it is fitted to."""

    name: str
    version: str
    """Of the runs: a constant may have another value in each era."""
    rows: Callable[[], list[Measured]]
    quantity: str
    """How the quantities that it is fitted to begin, with `|` between."""
    off: float | None = None
    """A value at which the law is switched off."""

    @property
    def constant(self) -> Constant:
        """As it is in that version."""
        return constant(self.name, era_of(NdbVersion.parse(self.version)))

    def errors(self, value: float) -> dict[str, list[float]]:
        """Logarithms of answer over measurement by run, when the constant has a value."""
        with constant_as(self.constant, value):
            found = self.rows()
        kinds = tuple(self.quantity.split("|"))
        by_run: dict[str, list[float]] = {}
        for row in found:
            if row.era == self.version and row.quantity.startswith(kinds) and row.measured > 0:
                log = math.log(max(_LEAST, row.value) / row.measured)
                by_run.setdefault(row.run, []).append(log)
        return by_run


@dataclass(frozen=True)
class Found:
    """What became of it."""

    fit: Fit
    runs: tuple[str, ...]
    fit_error: float
    left_out_error: float
    without: float | None


def _error(logs: list[float]) -> float:
    return mean(map(abs, logs)) if logs else 0.0


def tried(fit: Fit) -> Found:
    """Fit error and leave-one-out error of a constant."""
    known = fit.constant
    apart = (known.high - known.low) / (STEPS - 1)
    values = sorted({known.value, *(known.low + apart * i for i in range(STEPS))})
    errors = {value: fit.errors(value) for value in values}
    as_it_is = errors[known.value]
    # Runs that the constant does not move say nothing about it.
    told = [
        run
        for run, logs in as_it_is.items()
        if any(abs(a - b) > 1e-4 for one in errors.values() for a, b in zip(logs, one[run], strict=False))
    ]
    left_out = []
    for run in told:
        others = [other for other in told if other != run]
        best = min(values, key=lambda value: sum(_error(errors[value][other]) for other in others))
        left_out += errors[best][run] if others else as_it_is[run]
    without = None
    if fit.off is not None and told:
        off = fit.errors(fit.off)
        without = _error([log for run in told for log in off.get(run, ())])
    own = [log for run in told for log in as_it_is[run]]
    return Found(fit, tuple(told), _error(own), _error(left_out), without)


def _rows_of(quantity: str) -> Callable[[], list[Measured]]:
    """What is measured of that: no more than is needed."""
    if quantity.startswith("backup"):
        return times.backups
    return times.reorganisations if quantity.startswith("reorganise") else times.starts


def _loads(version: str) -> Callable[[], list[Measured]]:
    """Rates of overloaded phases: the middle one of some simulated runs."""

    def rows() -> list[Measured]:
        found = []
        for run in runs():
            if run.era != version:
                continue
            for one in outcomes_of.__wrapped__(run, DRAWS):
                if one.phase.first is None:
                    continue
                low, middle, high = one.spread([seen.accepted_rows_s for seen in one.drawn])
                found.append(
                    Measured("rows, overloaded", run.era, run.name, "rows/s", one.phase.accepted_rows_s, low,
                             middle, high, fitted=True)
                )  # fmt: skip
        return found

    return rows


@cache
def fits() -> tuple[Fit, ...]:
    """Every constant that runs of a cluster were fitted with, and which can be chosen anew from them."""
    loads = {version: _loads(version) for version in ("7.4.10", "8.4.8")}

    def of_loads(name: str, version: str, off: float | None = None) -> Fit:
        return Fit(name, version, loads[version], "rows, overloaded", off)

    return (
        *(
            Fit(name, "8.4.8", _rows_of(quantity), quantity)
            for name, quantity in (
                ("restore_ldm_rows_per_s", "node: restore|initial: restore|system: restore"),
                ("restore_ldm_bytes_per_s", "node: restore|initial: restore|system: restore"),
                ("restore_operations_partial", "node: restore|system: restore"),
                ("restore_core_share", "system: restore|system start"),
                ("index_build_ldm_rows_per_s", "node: rebuild|initial: rebuild|system: rebuild"),
                ("copy_ldm_rows_per_s", "initial: copy"),
                ("lcp_wait_idle_s", "node: wait|system: wait"),
                ("initial_restart_checkpoints", "initial: wait|initial start"),
                ("subscription_s", "node: |initial: hand"),
                ("stop_handover_s", "node: stop|node start|initial start"),
                ("first_checkpoint_s", "first start|system"),
                ("restart_metadata_s", "node start|initial start|first start"),
                ("backup_fixed_s", "backup"),
                ("backup_single_thread_held", "backup"),
                ("reorganise_table_s", "reorganise"),
                ("reorganise_byte_s", "reorganise"),
                ("reorganise_index_row_s", "reorganise"),
                ("reorganise_moved_row_s", "reorganise"),
                ("reorganise_batch_exponent", "reorganise"),
                ("reorganise_cpu_share", "reorganise: CPU"),
            )
        ),
        *(
            of_loads(name, version)
            for version in ("7.4.10", "8.4.8")
            for name in PAUSES
        ),
        of_loads("redo_aborted_share", "7.4.10"),
        of_loads("redo_aborted_share", "8.4.8"),
        of_loads("redo_aborted_share_file_end", "7.4.10"),
        of_loads("redo_lag_noise", "8.4.8", 0.0),
        of_loads("lcp_flushes_small_files", "7.4.10", 0.0),
        of_loads("lcp_flushes_small_files", "8.4.8", 0.0),
        of_loads("redo_part_unevenness", "7.4.10", 0.0),
        of_loads("redo_part_unevenness", "8.4.8", 0.0),
        of_loads("redo_next_file_open_bytes", "7.4.10"),
        of_loads("redo_next_file_open_bytes", "8.4.8"),
        of_loads("redo_file_spare_bytes", "7.4.10", 0.0),
        of_loads("redo_file_spare_bytes", "8.4.8"),
    )  # fmt: skip


def lines(found: list[Found]) -> Iterator[str]:
    """The table."""
    yield f"{'constant':30} {'version':7} {'runs':>4} {'fit':>7} {'left out':>8} {'without':>8}"
    for one in found:
        without = "" if one.without is None else f"{one.without:8.1%}"
        yield (
            f"{one.fit.name:30} {one.fit.version:7} {len(one.runs):4} {one.fit_error:7.1%}"
            f" {one.left_out_error:8.1%} {without:>8}"
        )


def write(found: list[Found]) -> None:
    """Put runs and errors beside the constants."""
    path = Path(resource_path("ndb/constants.json"))
    document = json.loads(path.read_text(encoding="utf-8"))
    for row in document["constants"]:
        mine = [one for one in found if one.fit.name == row["name"] and one.runs]
        if mine:
            row["fitted_on"] = {
                one.fit.version: {
                    "runs": list(one.runs),
                    "fit_error": round(one.fit_error, 3),
                    "left_out_error": round(one.left_out_error, 3),
                    **({} if one.without is None else {"without": round(one.without, 3)}),
                }
                for one in mine
            }
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    every = []
    for fit in fits():
        every.append(tried(fit))
        print(list(lines(every[-1:]))[1], flush=True)
    if "--write" in sys.argv:
        write(every)
