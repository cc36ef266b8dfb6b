"""Rules about values that every program accepts and the data node then takes otherwise than written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ndbplan.base.units import MIB, format_ndb_size
from ndbplan.checks.parameters import setting, without
from ndbplan.checks.problem import Problem
from ndbplan.checks.refused.threads import is_automatic, thread_text, threads
from ndbplan.checks.rule import hint, rule, warning
from ndbplan.configuration.settings import NodesAlike, nodes_alike
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.node_memory import LEAST_SEND_BYTES, least_transaction_memory
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.threads.layout import ThreadConfigError
from ndbplan.ndb.threads.written import LONGEST_SPIN_US

_CHOICES = ("InitFragmentLogFiles", "SpinMethod")
_FILE_SPECS = ("InitialLogfileGroup", "InitialTablespace")
_FILE_SPEC = re.compile(r"[^;:=]+:\s*[0-9]+\s*[KkMG]?")
_OPTION = re.compile(r"(name|undo_buffer_size|extent_size)\s*=\s*\S[^;]*", re.I)


@rule("text-understood", "The data node does not understand a value")
def text_understood(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        for name in _CHOICES:
            value = str(alike.settings.value(name)) if alike.settings.states(name) else ""
            if not value or not catalogue.knows("DB", name, plan.version):
                continue
            allowed = catalogue.parameter("DB", name, plan.version).allowed_values
            if value.lower() not in {choice.lower() for choice in allowed}:
                yield warning(
                    alike.where,
                    f"{name} is '{value[:40]}'; nothing refuses it, but the data node only knows "
                    f"{', '.join(allowed)}",
                    "set it back to the default",
                    alike.object_ids,
                    without(alike.scope_of(name), name),
                )
        for name in _FILE_SPECS:
            value = str(alike.settings.value(name)) if alike.settings.states(name) else ""
            if value and not _is_file_specification(value):
                yield warning(
                    alike.where,
                    f"{name} '{value[:40]}' names no files; nothing refuses it, but the data node takes "
                    "memory for it and creates nothing",
                    "write for example name=lg;undo_buffer_size=64M;undo1.log:1G",
                    alike.object_ids,
                    without(alike.scope_of(name), name),
                )


def _is_file_specification(text: str) -> bool:
    """Whether a text is `name=…;option=…;file:size;…` with one file at least."""
    parts = [part.strip() for part in text.split(";") if part.strip()]
    files = [part for part in parts if _FILE_SPEC.fullmatch(part)]
    return bool(files) and all(_FILE_SPEC.fullmatch(p) or _OPTION.fullmatch(p) for p in parts)


@rule("settings-lifted", "The data node uses another value than the one set")
def settings_lifted(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.settings_lifted:
        return
    for alike in nodes_alike(plan):
        send = alike.settings.number("TotalSendBufferMemory")
        if alike.settings.states("TotalSendBufferMemory") and 0 < send < LEAST_SEND_BYTES:
            yield hint(
                alike.where,
                f"TotalSendBufferMemory is {format_ndb_size(send)}; the data node takes "
                f"{format_ndb_size(LEAST_SEND_BYTES)} and 2M for each thread all the same",
                f"set it to {format_ndb_size(LEAST_SEND_BYTES)}",
                alike.object_ids,
                setting(alike.scope_of("TotalSendBufferMemory"), "TotalSendBufferMemory", LEAST_SEND_BYTES),
            )
        yield from _small_transaction_memory(alike)
        text = "" if is_automatic(alike) else thread_text(alike)
        longest = max((int(n) for n in re.findall(r"spintime\s*=\s*([0-9]{1,9})", text, re.I)), default=0)
        if longest > LONGEST_SPIN_US:
            yield hint(
                alike.where,
                f"spintime {longest} is above {LONGEST_SPIN_US}; the data node takes {LONGEST_SPIN_US}",
                f"write spintime={LONGEST_SPIN_US} at most",
                alike.object_ids,
                setting(alike.scope_of("ThreadConfig"), "ThreadConfig", _spinning_less(text)),
            )


def _spinning_less(text: str) -> str:
    """The text of ThreadConfig with no more than is taken."""
    return re.sub(
        r"(spintime\s*=\s*)([0-9]+)",
        lambda found: f"{found[1]}{min(LONGEST_SPIN_US, int(found[2][:9]))}",
        text,
        flags=re.I,
    )


def _small_transaction_memory(alike: NodesAlike) -> Iterator[Problem]:
    name = "TransactionMemory"
    stated = alike.settings.number(name)
    if not catalogue.knows("DB", name, alike.plan.version) or not alike.settings.states(name) or not stated:
        return
    try:
        counts = threads(alike)
    except ThreadConfigError:
        return
    least = MIB * math.ceil(least_transaction_memory(alike.settings, counts, constants_of(alike.plan)) / MIB)
    if stated < least:
        yield hint(
            alike.where,
            f"{name} is {format_ndb_size(stated)}; the data node needs about {format_ndb_size(least)} for "
            "what is reserved and for its LDM and TC threads, and takes it",
            f"set it to {format_ndb_size(least)}",
            alike.object_ids,
            setting(alike.scope_of(name), name, least),
        )
