"""Lines of a config.ini section into parameter values."""

from __future__ import annotations

from collections.abc import Mapping

from ndbplan.importing.config.file import ConfigFile, Line, RawSection
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.values import BadValueError, format_value, parse_value, surprise
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import no_control, parameter_name
from ndbplan.plan.origins import Origin, Origins, SetByImport

_BEFORE_TRANSACTION_MEMORY = (
    "maxnoofconcurrentindexoperations",
    "maxnooffiredtriggers",
    "maxnooflocalscans",
    "maxnooflocaloperations",
)


def values_of(
    config: ConfigFile, section: RawSection, version: NdbVersion, skip: tuple[str, ...] = ()
) -> dict[str, int | str]:
    """Parameters of a section by the manual's names, without those in `skip` (lower case).

    Unknown names and values that are refused keep their text; both are reported.
    """
    values: dict[str, int | str] = {}
    for line in section.lines:
        value = _value(config, section, line, version)
        if value is not None and line.name.lower() not in skip:
            values[_proper_name(section.kind, line.name)] = value
    if section.kind == "DB":
        _refuse_mixed_transaction_memory(config, section, version)
    return values


def _proper_name(kind: str, name: str) -> str:
    return catalogue.parameter(kind, name).name if catalogue.exists(kind, name) else name


def _value(config: ConfigFile, section: RawSection, line: Line, version: NdbVersion) -> int | str | None:
    place = f"[{section.header}{' default' if section.is_default else ''}]"
    try:
        no_control(line.value)
        no_control(line.name)
        if line.name:
            parameter_name(line.name)
    except ValueError as bad:
        config.find(False, line.line, f"{place} {line.name[:40]!r} {bad}", "correct the line")
        return None
    if not catalogue.knows(section.kind, line.name, version):
        refused = not catalogue.may_know(section.kind, line.name, version)
        config.find(refused, line.line, f"{place} {_unknown(section.kind, line.name, version)}", _UNKNOWN_FIX)
        return line.value if line.name else None
    parameter = catalogue.parameter(section.kind, line.name, version)
    if parameter.status == "internal":
        config.find(True, line.line, f"{place} {parameter.name} cannot be configured", "remove it")
        return line.value
    if parameter.status == "deprecated":
        instead = f"use {parameter.replaced_by}" if parameter.replaced_by else "remove it"
        config.find(False, line.line, f"{place} {parameter.name} is deprecated in {version}", instead)
    try:
        value = parse_value(parameter, line.value, version)
        if parameter.is_number and isinstance(value, int) and (why := surprise(line.value, value)):
            read = f"{line.value[:40]} is read as {format_value(parameter, value)}"
            config.find(False, line.line, f"{place} {parameter.name}: {read}; {why}", "write it plainly")
        return value
    except BadValueError as bad:
        config.find(True, line.line, f"{place} {parameter.name}: {bad.what}", bad.fix)
        return line.value


def origins_of(file: str, section: RawSection, values: Mapping[str, int | str]) -> Origins:
    """The lines of a file from which values of a section came, by the manual's names."""
    origins: dict[str, Origin] = {}
    for line in section.lines:
        name = _proper_name(section.kind, line.name)
        if name in values:
            origins[name] = SetByImport(file=file, line=line.line)
    return Origins(origins)


_UNKNOWN_FIX = "the plan keeps it, exports leave it out"


def _unknown(kind: str, name: str, version: NdbVersion) -> str:
    if not catalogue.exists(kind, name):
        return f"no NDB version knows a parameter '{name[:60]}' here"
    return catalogue.lack(kind, name, version)


def _refuse_mixed_transaction_memory(config: ConfigFile, section: RawSection, version: NdbVersion) -> None:
    """From 8.0.19 the program refuses the new and the old settings in one section."""
    memory = section.get("TransactionMemory")
    if memory is None or not catalogue.knows("DB", "TransactionMemory", version):
        return
    for line in section.lines:
        if line.name.lower() in _BEFORE_TRANSACTION_MEMORY:
            config.find(
                True,
                max(line.line, memory.line),
                f"{line.name} and TransactionMemory cannot be set in one section",
                f"remove {line.name}",
            )
