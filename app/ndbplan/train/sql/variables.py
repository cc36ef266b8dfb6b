"""System variables: what `@@name` and SHOW VARIABLES answer, and what is not known here.

A name that no server has is refused as the server does; one that it has and nobody lists here says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from ndbplan.configuration.mysqld import mysqld_options
from ndbplan.ndb.console import complete_variables, form, other_variables, variable_families
from ndbplan.ndb.mysqld_options import flag_of, number_of, who_sets
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import server
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.transacting import SetsForAll

_WHERE = re.compile(
    r"\bwhere\s+`?variable_name`?\s*+(?:=\s*+(?P<one>'[^']*'|\"[^\"]*\")|in\s*+\((?P<many>[^)]*)\)|like\b.*)\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_NOT_WHOLE = "these are known here, those of NDB all; a server may have more variables of such a name"
_FOLDERS = ("datadir",)
"""Options whose variable ends in a stroke."""
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_GLOBALLY = re.compile(r"(?:set|show)\s+(?:@@)?(?:global|persist)\b", re.IGNORECASE)


def of_server(cluster: LiveCluster) -> dict[str, str]:
    """Those of the server that answers: as servers have them, as the plan states them, and those of NDB."""
    version, node = cluster.plan.version, server.answering(cluster)
    found = {name: one.value for name, one in other_variables(version).items()}
    for option, text in mysqld_options(cluster.plan, node).items() if node is not None else ():
        name, number = option.replace("-", "_"), number_of(text, version)
        flag = flag_of(text or "on") if found.get(name) in ("ON", "OFF") else None
        value = str(number) if number is not None else text
        found[name] = value if flag is None else ("OFF", "ON")[flag]
        if name in _FOLDERS:
            found[name] = text.rstrip("/") + "/"
    now = {} if node is None else cluster.state.of_servers.values.get(node.node_id, {})
    return found | server.variables(cluster) | dict(now)


def set_for_all(values: Mapping[str, str], persisted: Mapping[str, str], cluster: LiveCluster) -> None:
    """SET GLOBAL and SET PERSIST on the server that answers."""
    node = server.answering(cluster)
    if node is not None and (values or persisted):
        kept = {**cluster.state.of_servers.persisted.get(node.node_id, {}), **persisted}
        cluster.act(SetsForAll(node.node_id, values, kept))


def reset(sql: str, cluster: LiveCluster) -> tuple[Warned, ...]:
    """RESET PERSIST [[IF EXISTS] name]. Raises SqlError, and NotSimulated for what else can be reset."""
    match, node = _RESET.match(sql), server.answering(cluster)
    if match is None or node is None:
        raise NotSimulated("RESET is not simulated here")
    if not form(cluster.plan.version, "dictionary_of_its_own"):
        raise syntax(sql.split(None, 1)[1])
    kept, name = dict(cluster.state.of_servers.persisted.get(node.node_id, {})), (match[2] or "").lower()
    missed = f"Variable {match[2]} does not exist in persisted config file"
    if name and name not in kept and not match[1]:
        raise SqlError(3615, "HY000", missed)
    left = {one: value for one, value in kept.items() if name and one != name}
    cluster.act(SetsForAll(node.node_id, {}, left))
    return (Warned("Warning", 3615, missed),) if name and name not in kept else ()


_RESET = re.compile(r"reset\s+persist(?:\s+(if\s+exists\s+)?`?([\w.]+)`?)?\s*\Z", re.IGNORECASE)


def _of_sessions(cluster: LiveCluster) -> dict[str, str]:
    """The values for all of the variables that each session has for itself."""
    who = who_sets(cluster.plan.version)
    return {name: value for name, value in of_server(cluster).items() if who.get(name) in ("", "begin")}


def at_begin(cluster: LiveCluster) -> dict[str, str]:
    """What a session of the interactive client begins with, of variables that it has for itself.

    It waits for its next line as long as interactive_timeout says (manual, wait_timeout).
    """
    found = _of_sessions(cluster)
    return found | {"wait_timeout": found["interactive_timeout"]}


def shared(own: Mapping[str, str], cluster: LiveCluster) -> dict[str, str]:
    """The values of all, of the variables that a session sees."""
    return {**own, **_of_sessions(cluster)}


def _is_of_family(name: str) -> bool:
    return any(name.startswith(one) for one in variable_families())


def missing(name: str) -> SqlError | NotSimulated:
    """Why there is no value of a variable."""
    if _is_of_family(name.lower()):
        return NotSimulated(f"the system variable {name[:64]} is not known here")
    return SqlError(1193, "HY000", f"Unknown system variable '{name}'")


def is_global(sql: str) -> bool:
    """Whether SET sets variables for all, or SHOW lists those of all."""
    return _GLOBALLY.match(sql) is not None


def filled(tree: exp.Expr, values: Mapping[str, str], of_all: Mapping[str, str]) -> None:
    """Put the values of @@variables into a query; `of_all`: where @@GLOBAL has another one."""
    for one in list(tree.find_all(exp.SessionParameter)):
        name = one.name.lower()
        if name not in values:
            raise missing(one.name)
        value = values[name]
        if str(one.args.get("kind") or "").upper() == "GLOBAL":
            value = of_all.get(name, value)
        value = {"ON": "1", "OFF": "0"}.get(value, value)
        is_number = _NUMBER.fullmatch(value) is not None
        one.replace(exp.Literal.number(value) if is_number else exp.Literal.string(value))


def shown(sql: str, values: Mapping[str, str], pattern: str) -> Result:
    """SHOW VARIABLES; a list that is not whole says so. Raises NotSimulated where none is known."""
    where = _WHERE.search(sql)
    if where is not None and not pattern:
        names = re.findall(r"['\"]([^'\"]*)['\"]", where["one"] or where["many"] or "")
        for name in names:
            _check(name.lower(), values)
        kept = {name: value for name, value in values.items() if name in [one.lower() for one in names]}
        return server.named(kept, "")
    if re.search(r"\bwhere\b", sql, re.IGNORECASE) and where is None:
        raise NotSimulated("SHOW VARIABLES takes LIKE, and WHERE Variable_name with =, IN or LIKE, here")
    low = pattern.lower().replace("\\", "")
    if "%" not in low and low:
        _check(low, values)
    elif not any(one in low for one in complete_variables()):
        begin = low.partition("%")[0]
        if not begin or any(one.startswith(begin) or begin.startswith(one) for one in variable_families()):
            found = server.named(values, pattern)
            if not found.rows:
                raise NotSimulated("variables of such a name are not known here, and a server may have some")
            return found._replace(note=_NOT_WHOLE)
    return server.named(values, pattern)


def _check(name: str, values: Mapping[str, str]) -> None:
    if name not in values and _is_of_family(name):
        raise NotSimulated(f"the system variable {name[:64]} is not known here")
