"""Files that real management servers accepted: imported and exported again they mean the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ndbplan.configuration.sections import effective_configuration, link_configuration
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.values import BadValueError, parse_value
from ndbplan.ndb.version import NdbVersion

KINDS = {
    "ndbd": "DB", "db": "DB", "ndb_mgmd": "MGM", "mgm": "MGM",
    "mysqld": "API", "api": "API", "tcp": "TCP", "shm": "SHM", "computer": "COMPUTER", "system": "SYSTEM",
}  # fmt: skip
NOT_PARAMETERS = {"nodeid", "id", "hostname", "executeoncomputer"}


def accepted(version: str) -> list[Any]:
    rows = json.loads((Path(__file__).parent / f"mgmd-answers-{version}.json").read_text())["rows"]
    return [pytest.param(version, r["config"], id=r["change"][:60]) for r in rows if r["accepted"]]


def stated(config: str, version: str) -> dict[int, dict[str, Any]]:
    """Parameters of each node that has a number, read with nothing of the program but single values."""
    number = NdbVersion.parse(version)
    sections: list[tuple[str, bool, dict[str, str]]] = []
    for line in config.replace("\r", "").split("\n"):
        text = line.split("#", 1)[0].split("\0", 1)[0].strip()
        header = re.fullmatch(r"\[\s*(\w+)\s*(default)?\s*\]", text, re.I)
        if header:
            sections.append((KINDS[header[1].lower()], bool(header[2]), {}))
        elif text:
            name, value = re.split("[=:]", text, maxsplit=1)
            sections[-1][2][name.strip().lower()] = value.strip()
    # A default section holds for those below it (InitConfigFileParser::parseConfig).
    defaults: dict[str, dict[str, str]] = {}
    found: dict[int, dict[str, Any]] = {}
    for kind, is_default, lines in sections:
        node_id = lines.get("nodeid") or lines.get("id", "")
        if is_default:
            defaults[kind] = lines
        if is_default or kind not in ("DB", "MGM", "API") or not node_id.isdigit():
            continue
        merged = {**defaults.get(kind, {}), **lines}
        values: dict[str, Any] = {}
        for name, text in merged.items():
            if name not in NOT_PARAMETERS:
                entry = catalogue.parameter(kind, name, number)
                try:
                    values[entry.name] = parse_value(entry, text, number)
                except BadValueError:
                    values[entry.name] = text
        found[int(node_id)] = values
    return found


@pytest.mark.parametrize(("version", "config"), [*accepted("8.4.8"), *accepted("7.4.10")])
def test_an_accepted_file_means_the_same_after_import_and_export(version: str, config: str) -> None:
    plan, _ = import_config(config, version)
    effective = effective_configuration(plan)
    for node_id, values in stated(config, version).items():
        node = effective[node_id]
        kept = {name: value for name, value in node.stated.items() if name != "HostName"}
        if node.section == "DB":
            kept.setdefault("NoOfReplicas", 2)
            values.setdefault("NoOfReplicas", 2)
        not_written = [name for name, value in values.items() if name not in kept]
        assert not_written == [], not_written
        assert kept == values
    again, _ = import_config(render_config_ini(plan), version)
    assert effective_configuration(again) == effective
    assert link_configuration(again) == link_configuration(plan)
