"""What `ndbplan simulate` promises to print: one run, many runs, tables of ndbinfo."""

from __future__ import annotations

from ndbplan.base.shapes import Schema, object_schema, promise, schema_of
from ndbplan.cli.schema_words import (
    BOTTLENECK,
    ESTIMATED,
    FRACTION,
    INTEGER,
    NULL,
    NUMBER,
    QUANTITY,
    STRING,
    array,
    closed,
    or_null,
    record,
    said,
)


def simulate() -> Schema:
    """One run."""
    from ndbplan.simulate.model.start import LcpAtStart
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.series import DiskSeries, ErrorCount
    from ndbplan.simulate.stop import ClusterStop

    stop = schema_of(ClusterStop)["properties"]
    stop["at_s"] = ESTIMATED
    stop["system_restart_s"] = {"oneOf": [NULL, QUANTITY]}
    error = promise(
        ErrorCount, "code count first_at_s node_id", first_at_s=ESTIMATED, node_id=or_null(INTEGER)
    )
    wide = ("write_bps_mean", "utilisation_mean", "utilisation_max")
    disk = promise(DiskSeries, f"host disk {' '.join(wide)}", **dict.fromkeys(wide, ESTIMATED))
    later = (
        "latency_mean_s", "latency_max_s", "cluster_stop", "events", "monte_carlo", "loaded_after_s",
        "lcp_at_start", "parting", "measured",
    )  # fmt: skip
    promised = promise(
        SimulationResult,
        "seed duration_s offered_per_s accepted_per_s errors disks redo_buffer_fill_max redo_log_fill_max "
        "bottleneck latency_mean_s latency_max_s cluster_stop events",
        **dict.fromkeys(("offered_per_s", "accepted_per_s", "latency_mean_s"), ESTIMATED),
        **dict.fromkeys(("redo_buffer_fill_max", "redo_log_fill_max"), ESTIMATED),
        errors=array(error),
        disks=array(disk),
        bottleneck={"anyOf": [BOTTLENECK, NULL]},
        cluster_stop={"oneOf": [NULL, object_schema(stop)]},
    )
    return record(
        **promised["properties"],
        monte_carlo=runs(),
        loaded_after_s=or_null(QUANTITY),
        lcp_at_start=promise(LcpAtStart, "began_s_ago writes left_bytes next_after_s"),
        parting=_parting(),
        measured=_measured(),
        optional=later,
    )


def runs() -> Schema:
    """Many runs."""
    from ndbplan.simulate.bands import Bands, StopOdds
    from ndbplan.simulate.odds import ErrorOdds
    from ndbplan.simulate.rates import SteadyRate

    odds = {"probability": FRACTION, "first_at_s": ESTIMATED}
    errors = promise(ErrorOdds, "code probability comes_first first_at_s", comes_first=FRACTION, **odds)
    steady = "from_s to_s offered_per_s accepted_per_s errors"
    wide = ("accepted_per_s", "latency_mean_s", "redo_buffer_fill_max", "redo_log_fill_max")
    promised = promise(
        Bands,
        f"runs seed {' '.join(wide)} errors cluster_stop rates",
        rates=array(promise(SteadyRate, steady, errors=array(errors))),
        **dict.fromkeys(wide, ESTIMATED),
        errors=array(errors),
        cluster_stop=or_null(promise(StopOdds, "probability first_at_s", **odds)),
    )
    band = record(name=STRING, unit=STRING, p10=array(NUMBER), p50=array(NUMBER), p90=array(NUMBER))
    return record(
        **promised["properties"],
        accepted_mean_per_s=ESTIMATED,
        series=record(times_s=array(NUMBER), bands=array(band)),
        optional=(
            "accepted_mean_per_s",
            "latency_mean_s",
            "redo_buffer_fill_max",
            "redo_log_fill_max",
            "cluster_stop",
            "series",
            "rates",
        ),
    )


def table_rows() -> Schema:
    """The rows of a table."""
    cell = {"type": ["number", "string"]}
    rows = array({"type": "object", "additionalProperties": cell})
    says = "ndbplan simulate --table NAME --at TIME: the rows of an ndbinfo table, columns by name."
    return closed({"type": "object", "description": says, **record(table=STRING, at_s=NUMBER, rows=rows)})


def _measured() -> Schema:
    from ndbplan.importing.held_against import HeldLine

    line = schema_of(HeldLine)["properties"]
    return said(
        record(kind=STRING, lines=array(object_schema(line)), notes=array(STRING)),
        "With --measured: each measured line beside the run, over the moments that both have.",
    )


def _parting() -> Schema:
    from ndbplan.simulate.parting.parted import Parting

    properties = schema_of(Parting)["properties"]
    return said(
        record(text=STRING, **properties, optional=properties),
        "With --against: where the run of OTHER (there) parts from this one (here); only 'text': nowhere.",
    )
