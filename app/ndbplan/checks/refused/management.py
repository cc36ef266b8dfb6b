"""Rules about what the management server needs for itself: its port, its log, the generation of its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ndbplan.base.files import NAME_BYTES_MOST
from ndbplan.checks.parameters import counting, holding, setting, without
from ndbplan.checks.problem import Problem
from ndbplan.checks.refused.log_destination import EXAMPLE, doubts_of, faults_of, file_names
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.configuration.settings import node_settings, scope_of
from ndbplan.configuration.stated import Fate, stated
from ndbplan.estimate.estimation import Estimation


@rule("management-port-number", "A management node has no port", refused=True)
def management_port_number(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one, _ in holding(plan, "MGM", "PortNumber"):
        if one.reading.value == 0:
            yield error(
                one.where,
                "PortNumber is 0; the range of the parameter allows it, but ndb_mgmd does not start "
                "without a port",
                "set it back to the default 1186",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


@rule("configuration-generation", "The generation of the configuration is not 0", refused=True)
def configuration_generation(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in counting(plan, ("SYSTEM",), "ConfigGenerationNumber"):
        if one.reading.value != 0:
            yield error(
                one.where,
                f"ConfigGenerationNumber is {one.reading.value}; ndb_mgmd counts generations itself and "
                "aborts on a "
                "file that names one",
                "remove ConfigGenerationNumber",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


@rule("log-destination", "The management server cannot write its log as stated")
def log_destination(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in counting(plan, ("MGM",), "LogDestination"):
        for wrong in faults_of(str(one.reading.value)):
            yield warning(
                one.where,
                f"LogDestination {wrong}",
                f"write for example {EXAMPLE}",
                one.object_ids,
                without(one.scope, one.reading.written),
            )
        for doubt in doubts_of(str(one.reading.value)):
            fix = f"look whether the log is written after the first start, or write for example {EXAMPLE}"
            unknown = "whether that can be written: only the host knows it"
            yield hint(one.where, f"LogDestination {doubt}", fix, one.object_ids, missing=unknown)
    for node in plan.management_nodes:
        settings = node_settings(plan, node)
        bad = sorted({",", ";"} & set(settings.text("DataDir")))
        if bad and not settings.text("LogDestination"):
            yield warning(
                f"management node {node.node_id}",
                f"DataDir '{settings.text('DataDir')[:60]}' holds '{bad[0]}', which ends the name of the "
                "log file in "
                "LogDestination; ndb_mgmd starts without its log",
                "choose a folder without , and ;",
                [node.id],
                setting(
                    scope_of(node, "DataDir"),
                    "DataDir",
                    re.sub("[,;]", "_", settings.text("DataDir")),
                ),
            )


@rule("path-names", "A folder's name is longer than file systems allow")
def path_names(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in stated(plan):
        reading = one.reading
        is_log = reading.name == "LogDestination"
        is_path = reading.name == "DataDir" or reading.name.startswith(("FileSystemPath", "BackupDataDir"))
        if not (is_path or is_log) or reading.fate is not Fate.COUNTS:
            continue
        paths = file_names(str(reading.value)) if is_log else (str(reading.value),)
        what = f"{reading.name} has a {'file or ' if is_log else ''}folder whose name"
        yield from _too_long(one.where, what, paths, one.object_ids)
    for host in plan.hosts:
        for disk in host.disks:
            what = f"disk {disk.name} is mounted at a folder whose name"
            yield from _too_long(f"host {host.hostname}", what, (disk.mount_point or "",), (host.id,))


def _too_long(where: str, what: str, paths: Iterable[str], object_ids: Iterable[str]) -> Iterator[Problem]:
    longest = max((len(part.encode()) for path in paths for part in path.split("/")), default=0)
    if longest > NAME_BYTES_MOST:
        text = f"{what} takes {longest} bytes; file systems allow {NAME_BYTES_MOST}"
        unknown = "which folder there is instead: only whoever sets up the hosts knows"
        yield warning(where, text, "choose a shorter name", tuple(object_ids), missing=unknown)
