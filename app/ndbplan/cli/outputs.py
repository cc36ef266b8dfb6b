"""What each command promises to print with --json: further keys may be added, these stay.

The keys of a result take their types from the declaration of the result (`promise`). Written out is what a
command puts together itself, and what is promised wider than it is printed today, so that it may change.
"""

from __future__ import annotations

from functools import cache

from ndbplan.base.shapes import Schema, object_schema, promise, schema_of
from ndbplan.cli import advice_outputs, live_outputs, simulation_outputs
from ndbplan.cli.schema_words import (
    BOOLEAN,
    BOTTLENECK,
    CHANGE,
    ESTIMATED,
    FILES,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    PART,
    QUANTITY,
    STRING,
    array,
    closed,
    or_null,
    record,
    ref,
    said,
)


def _common() -> dict[str, Schema]:
    """What the promises of several commands refer to."""
    term = record(
        term=STRING, value=NUMBER, unit=STRING, source=STRING, why=array(ref("term")), optional=("why",)
    )
    quantity = record(
        value=NUMBER, low=NUMBER, high=NUMBER, unit=STRING, why=array(ref("term")), optional=("why",)
    )
    return {
        "term": closed(term, "One step of a derivation."),
        "quantity": closed(quantity, "An estimated number with its likely range; 'why' is there with --why."),
        "estimated": said({"anyOf": [NUMBER, QUANTITY]}, "An exact number, or an estimated one."),
        "change": _change(),
        "bottleneck": _bottleneck(),
    }


def _change() -> Schema:
    from ndbplan.edits.assign import Change

    return said(schema_of(Change), "One field that was set, with what it held before and what it holds now.")


def _bottleneck() -> Schema:
    from ndbplan.simulate.bottleneck import Bottleneck

    return said(schema_of(Bottleneck), "What limits, and on which object.")


def _edits() -> dict[str, Schema]:
    """The commands that write plans."""
    sample = record(
        name=STRING, title=STRING, ndb_version=STRING, hosts=INTEGER, data_nodes=INTEGER, tables=INTEGER
    )
    removed = record(files=FILES, removed=FILES, along=FILES, changed=array(CHANGE))
    return {
        "samples": record(samples=array(sample)),
        "hardware": record(hardware=array(record(kind=STRING, name=STRING)), file=STRING),
        "new": record(files=FILES),
        "variants": _variants(),
        "set": closed(advice_outputs.changed(), "'files' is empty when nothing changed."),
        "add": closed(record(files=FILES, added=FILES), "Addresses of the new parts."),
        "remove": closed(
            removed,
            "What was named, what could not live without it, and fields of other parts that spoke of it.",
        ),
    }


def _variants() -> Schema:
    from ndbplan.edits.changes import ValueChange

    changes = said(array(closed(schema_of(ValueChange))), "What it has other than the first.")
    variant = record(name=STRING, note=STRING, main=BOOLEAN, changes=changes)
    return record(variants=array(closed(variant)), files=FILES)


def _parameters() -> Schema:
    from ndbplan.describe.parameters import ParameterRow

    return record(parameters=array(schema_of(ParameterRow)))


def _problem(**more: Schema) -> Schema:
    from ndbplan.checks.problem import Problem

    return object_schema({**schema_of(Problem)["properties"], **more})


def _check() -> Schema:
    waiver = record(address=STRING, rule=STRING, object_id=or_null(STRING), reason=STRING, problems=INTEGER)
    return record(
        problems=array(_problem()),
        waived=said(array(_problem(reason=STRING)), "Problems that a waiver of the plan accepts."),
        waivers=said(array(waiver), "The waivers of the plan, and how many problems each accepts."),
        optional=("waived", "waivers"),
    )


def _estimate() -> Schema:
    from ndbplan.estimate.load.redo import OperationRedo, RedoEstimate
    from ndbplan.estimate.space.disk_space import DiskSpace
    from ndbplan.estimate.storage.memory import NodeMemory
    from ndbplan.estimate.storage.table_memory import TableMemory
    from ndbplan.plan.processes import DiskRole

    wide = ("fixed_bytes", "var_bytes", "hash_index_bytes", "ordered_index_bytes", "blob_bytes")
    table = promise(TableMemory, f"table rows {' '.join(wide)}", **dict.fromkeys(wide, ESTIMATED))
    memory = record(
        tables=array(table), nodes=array(promise(NodeMemory, "node_id data_memory_bytes ram_bytes"))
    )
    redo = promise(
        RedoEstimate,
        "operations log_bytes_per_part time_to_full_s",
        operations=array(schema_of(OperationRedo)),
        log_bytes_per_part={"anyOf": [ESTIMATED, NULL]},
        time_to_full_s={"anyOf": [ESTIMATED, NULL]},
    )
    files = record(
        node_id=INTEGER,
        role=schema_of(DiskRole),
        files=STRING,
        host=or_null(STRING),
        disk=or_null(STRING),
        bytes=QUANTITY,
    )
    space = record(disks=array(schema_of(DiskSpace)), files=array(files))
    parts = {"memory": memory, "redo": redo, "disk_space": space, "growth": _growth()}
    return record(**parts, optional=parts)


def _growth() -> Schema:
    left = or_null(QUANTITY)
    month = record(
        month=INTEGER,
        nodes=array(closed(record(node_id=INTEGER, data_memory_bytes=QUANTITY, fill=NUMBER))),
        disks=array(closed(record(host=STRING, disk=STRING, used_bytes=QUANTITY, fill=NUMBER))),
    )
    return closed(
        record(
            months=array(closed(month)),
            months_until_full=left,
            disks=array(closed(record(host=STRING, disk=STRING, months_until_full=left))),
            tablespaces=array(closed(record(tablespace=STRING, months_until_full=left))),
            nearness=OBJECT,
            optional=("nearness",),
        ),
        "With --months: memory and disks month by month, and when each is full; null: not within a "
        "hundred years.",
    )


def _distribute() -> dict[str, Schema]:
    from ndbplan.estimate.storage.fragments import Partition
    from ndbplan.estimate.storage.lost_primaries import PrimariesAfter

    where = "partition node_group nodes primary ldm rows fixed_bytes var_bytes"
    hash_map = record(name=STRING, buckets=INTEGER)
    loss = "lost_nodes moves rows_without_replica fragments_without_replica loaded_node factor"
    table = record(
        table=STRING,
        hash_map=hash_map,
        partitions=array(promise(Partition, where)),
        skew=OBJECT,
        lost=promise(PrimariesAfter, loss),
        keys=OBJECT,
        optional=("lost", "keys"),
    )
    counted = record(partition=INTEGER, rows=INTEGER)
    return {
        "distribute": record(tables=array(table), files=FILES, optional=("files",)),
        "partition": record(
            table=STRING,
            hash_map=hash_map,
            rows=INTEGER,
            partitions=array(counted),
            faulty_rows=INTEGER,
            problems=array(STRING),
        ),
    }


def _reorganise() -> Schema:
    from ndbplan.estimate.grown import ReorganiseEstimate
    from ndbplan.estimate.storage.redistribution import RedistributedPartition
    from ndbplan.estimate.times.reorganise import TableReorganise

    partition = promise(
        RedistributedPartition,
        "partition rows commits fixed_bytes var_bytes",
        fixed_bytes=ESTIMATED,
        var_bytes=ESTIMATED,
    )
    table = promise(
        TableReorganise,
        "table partitions_before partitions_after rows_moved bytes_moved duration_s partitions",
        bytes_moved=ESTIMATED,
        partitions=array(partition),
    )
    promised = promise(
        ReorganiseEstimate,
        "tables duration_s problems memory_peak_bytes tablespaces",
        tables=array(table),
        memory_peak_bytes=ESTIMATED,
    )
    return record(**promised["properties"], files=FILES, optional=("problems", "tablespaces", "files"))


def _times() -> dict[str, Schema]:
    """Restarts, operations, backups and their calibration."""
    from ndbplan.estimate.load.maintenance_window import KeptOut, Window
    from ndbplan.estimate.times.backup import BackupEstimate, NodeBackup, PhasedEstimate
    from ndbplan.estimate.times.reorganise import NodePeak
    from ndbplan.estimate.times.restart import RestartEstimate
    from ndbplan.estimate.times.restart_phases import Phase
    from ndbplan.operations.operation import DiskLoad, Interval, Operation

    phases = array(promise(Phase, "name duration_s"))
    step = promise(
        Interval,
        "key title start_s duration_s blocked check way_back if_it_fails phases",
        phases=phases,
    )
    operation = promise(
        Operation,
        "name title steps duration_s point_of_no_return notes nodes disks",
        steps=array(step),
        nodes=array(promise(NodePeak, "node_id")),
        disks=array(promise(DiskLoad, "node_id")),
    )
    phased = promise(PhasedEstimate, "phases duration_s", phases=phases)
    backup = promise(BackupEstimate, "nodes duration_s notes", nodes=array(promise(NodeBackup, "node_id")))
    calibration = record(
        constant=STRING, value=NUMBER, low=or_null(NUMBER), high=or_null(NUMBER), source=STRING
    )
    return {
        "restart": promise(
            RestartEstimate, "kind node_ids phases duration_s bytes_moved", kind=STRING, phases=phases
        ),
        "procedure": record(
            **operation["properties"],
            best_window=or_null(schema_of(Window)),
            kept_out=array(schema_of(KeptOut)),
            optional=("kept_out",),
        ),
        "backup": record(backup=backup, restore=phased, create_files=phased),
        "calibrate": record(files=FILES, calibrations=array(calibration)),
    }


def _files() -> dict[str, Schema]:
    """The commands that write and read files of others, and what differs between configurations."""
    from ndbplan.configuration.difference import Difference, ParameterChange
    from ndbplan.importing.imported import Finding
    from ndbplan.importing.kinds import KINDS
    from ndbplan.ndb import parameters as catalogue

    read = record(file=STRING, kind={"enum": list(KINDS)})
    numbers = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}
    painted = said(
        {"type": "object", "additionalProperties": numbers},
        "What is painted on the objects, by object id: use of disks, processors, memory and network as "
        "fractions, the severity of the worst problem; with --colour-by the shades in words.",
    )
    difference = promise(
        Difference,
        "restart parameters added_node_ids removed_node_ids links",
        restart={"enum": list(catalogue.RESTARTS)},
        parameters=array(schema_of(ParameterChange)),
    )
    return {
        "export": record(files=FILES),
        "import": record(
            files=FILES,
            read=array(read),
            version=STRING,
            accepted=BOOLEAN,
            findings=array(schema_of(Finding)),
            changes=array(STRING),
        ),
        "render": record(files=FILES, painted=painted, optional=("painted",)),
        "diff": record(
            **difference["properties"], steps=array(STRING), left_out=array(STRING), refused=or_null(STRING)
        ),
    }


def _survive() -> Schema:
    from ndbplan.advise.survival import Failure, SurvivalReport
    from ndbplan.ndb.survival import Outcome

    parts = array(PART)
    failure = promise(
        Failure,
        "dead verdict why load_left_per_s carries_peak whole_again_s",
        dead=parts,
        carries_peak={"anyOf": [BOOLEAN, NULL]},
    )
    report = promise(
        SurvivalReport,
        "failures smallest_killers offered_per_s notes left_out_pairs",
        failures=array(failure),
        smallest_killers=array(parts),
        offered_per_s={"anyOf": [NUMBER, NULL]},
        left_out_pairs={"type": "integer", "minimum": 0},
    )
    side = record(up=array(INTEGER), verdict=schema_of(Outcome), asked={"anyOf": [INTEGER, NULL]}, why=STRING)
    step = record(dead=parts, cut=parts, sides=array(side))
    single = record(**report["properties"], optional=("offered_per_s", "notes", "left_out_pairs"))
    return {"anyOf": [single, record(steps=array(step))]}


def _advice() -> dict[str, Schema]:
    from ndbplan.advise.assumed_hardware import HardwareAssumption
    from ndbplan.advise.cost import Cost
    from ndbplan.advise.max_load import MaxLoad
    from ndbplan.advise.remedies import Remedy
    from ndbplan.advise.tighten import Assumption
    from ndbplan.advise.what_matters import WhatMatters
    from ndbplan.edits.changes import ValueChange

    next_limit = object_schema({"max_per_s": QUANTITY, "limited_by": BOTTLENECK})
    most = promise(
        MaxLoad,
        "max_per_s limited_by ends_after_s error_code takes_s duration_s offered_per_s note next_limit",
        limited_by=BOTTLENECK,
        next_limit=or_null(next_limit),
    )
    changes = array(closed(schema_of(ValueChange)))
    remedy = promise(
        Remedy,
        "title before_per_s after_per_s limited_by enough changes set",
        limited_by=BOTTLENECK,
        changes=changes,
        set={"type": ["array", "null"], "items": STRING},
    )
    remedies = record(
        workload=STRING,
        duration_s=NUMBER,
        offered_per_s=NUMBER,
        before_per_s=QUANTITY,
        limited_by=BOTTLENECK,
        enough=BOOLEAN,
        note=or_null(STRING),
        remedies=array(closed(remedy)),
        nearness=OBJECT,
        optional=("note",),
    )
    fixed = record(fixed=array(_problem()), changes=changes, problems=array(_problem()), files=FILES)
    later = ("error_code", "takes_s", "duration_s", "offered_per_s", "note", "next_limit")
    return {
        "max-load": record(**most["properties"], optional=later),
        "survive": _survive(),
        "remedies": closed(remedies),
        "what-matters": said(
            promise(
                WhatMatters,
                "aim before changes tried legal_gains by_cost",
                before=or_null(QUANTITY),
                changes=array(advice_outputs.mattering()),
            ),
            "Single changes of the plan, best first.",
        ),
        "sweep": advice_outputs.sweep(),
        "cost": said(schema_of(Cost), "The prices of the plan summed; null: not stated."),
        "compare": advice_outputs.compare(),
        "size": advice_outputs.size(),
        "tighten": closed(
            record(
                assumptions=array(closed(schema_of(Assumption))),
                hardware=array(closed(schema_of(HardwareAssumption))),
            )
        ),
        "fix": closed(fixed),
    }


def _verify() -> Schema:
    from ndbplan.report.verify import Verified

    return said(closed(schema_of(Verified)), "Figures worked out again, and what reads otherwise.")


def _part() -> Schema:
    return {
        **STRING,
        "pattern": "^(node|host|disk|device|rack|link|switch):",
        "description": "A part that may fail: node:4, host:NAME, disk:HOST/NAME, device:HOST/DISK, "
        "rack:NAME, link:HOST/HOST, switch:NAME.",
    }


PREFIX = "output-"


@cache
def definitions() -> dict[str, Schema]:
    """The promise of every command by PREFIX and its name, and what they refer to, in the order published."""
    advice, times, files = _advice(), _times(), _files()
    first = {
        **_edits(),
        "parameters": said(_parameters(), "Every value that is set, and who set it."),
        "check": _check(),
        "estimate": _estimate(),
        **_distribute(),
        "reorg": _reorganise(),
        "restart": times["restart"],
        "simulate": simulation_outputs.simulate(),
        "simulate-table": simulation_outputs.table_rows(),
        "max-load": advice["max-load"],
        "export": files["export"],
        "import": files["import"],
        "render": files["render"],
        "diff": files["diff"],
        "procedure": times["procedure"],
        "backup": times["backup"],
        "calibrate": times["calibrate"],
    }
    last = ("survive", "remedies", "fix", "tighten", "cost", "what-matters", "sweep", "compare", "size")
    then = {name: advice[name] for name in last}
    then |= live_outputs.promises()
    then |= {"report": record(files=FILES), "verify": _verify()}
    return {**_common(), **_named(first), "part": _part(), **_named(then)}


def _named(promises: dict[str, Schema]) -> dict[str, Schema]:
    return {PREFIX + name: shape for name, shape in promises.items()}
