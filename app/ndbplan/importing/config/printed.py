"""What `ndb_config --diff-default` prints of a running cluster, as the config.ini that says the same.

    text = as_config_ini(printed, "the pasted text", plan)   # None: it is something else

Its form: a head for each node, `config of [DB] node id 5 that is different from default`, the line
`CONFIG_PARAMETER,ACTUAL_VALUE,DEFAULT_VALUE`, and a line for each parameter. Connections and the [SYSTEM]
section are in no print of nodes; what is printed of them is left out.

Source: https://dev.mysql.com/doc/refman/8.4/en/mysql-cluster-programs-ndb-config.html, --config-binary-file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ndbplan.importing.config.file import ConfigFileError
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, process_node_ids

_HEAD = re.compile(r"config of \[([A-Za-z_]{1,20})\](?: node id ([0-9]{1,5}))?")
_COLUMNS = "CONFIG_PARAMETER,ACTUAL_VALUE,DEFAULT_VALUE"
_SECTIONS = {"DB": "ndbd", "NDBD": "ndbd", "MGM": "ndb_mgmd", "NDB_MGMD": "ndb_mgmd"}
_CLIENTS = ("API", "MYSQLD")
_KINDS = (("[ndbd]", "data nodes"), ("[ndb_mgmd]", "management nodes"))
HOW = "ndb_config --diff-default"
"""What prints the configuration of all nodes."""


def as_config_ini(text: str, name: str, planned: Plan) -> str | None:
    """The same as config.ini; None for a text of another form.

    The plan says what the print does not: which clients are SQL nodes, and for which nodes NodeGroup is
    stated (the management server states it for all). Raises ConfigFileError where a kind of node is
    missing, as in a print of `--type=ndbd`.
    """
    if _COLUMNS not in text:
        return None
    lines = list(_lines(text, name, planned))
    for section, nodes in _KINDS:
        if section not in lines:
            raise ConfigFileError(
                f"it tells of no {nodes}",
                where=name,
                fix=f"take all that {HOW} prints, without --type or --nodeid",
            )
    return "\n".join(lines) + "\n"


def _lines(text: str, name: str, planned: Plan) -> Iterator[str]:
    sql_nodes = {number for node in planned.sql_nodes for number in process_node_ids(node)}
    grouped = {node.node_id for node in planned.data_nodes if node.node_group is not None}
    inside, node_id = False, 0
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        head = _HEAD.match(line)
        if head is not None:
            kind, node_id = head[1].upper(), int(head[2] or 0)
            client = "mysqld" if node_id in sql_nodes else "api"
            section = client if kind in _CLIENTS else _SECTIONS.get(kind)
            inside = section is not None
            if inside:
                yield f"[{section}]"
        elif inside and line and line != _COLUMNS:
            parameter, comma, rest = line.partition(",")
            value, last, _default = rest.rpartition(",")
            if not comma or not last or not parameter.isidentifier():
                raise ConfigFileError(
                    f"'{line[:60]}' is no line of {HOW}",
                    where=f"{name}, line {number}",
                    fix="take its output whole",
                )
            is_given = (
                parameter.lower() == "nodegroup"
                and int(value or 0) != NODE_GROUP_NONE
                and node_id not in grouped
            )
            if value and not is_given:
                yield f"{parameter}={value}"
