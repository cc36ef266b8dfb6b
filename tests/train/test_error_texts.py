"""Numbers, SQLSTATEs and wordings of errors that consoles show, held against what servers have."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import ndbplan.train
from golden.commands import PLANS, RESULTS, SAMPLES
from ndbplan.ndb.console import form, release_of
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.plan.file import load
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import engine

REALITY = Path(__file__).parent.parent / "reality"
TRAIN = Path(str(ndbplan.train.__file__)).parent
VALUE = "\0"
"""Stands in a text for a value that is not written in the source."""
_RAISES = ("SqlError", "Warned", "wrong", "note", "warn", "_failed", "cannot_add")
_FIRST = 1000
"""The lowest number that a server has of its own."""
_STATE = re.compile(r"[0-9A-Z]{5}")
_LINE = re.compile(r"ERROR (\d+) \(([0-9A-Z]{5})\)(?: at line \d+)?: ([^\n]*)")
_ROW = re.compile(r"^\| (?:Note|Warning|Error) +\| +(\d+) \| (.*?) *\|$", re.MULTILINE)


@cache
def facts() -> dict[str, Any]:
    return json.loads((REALITY / "server_errors.json").read_text(encoding="utf-8"))


def _server(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def texts(code: int, server: tuple[int, ...] | None = None) -> list[str]:
    """Templates that a server has for a code; all of them where it is not said which server."""
    rows = [*facts()["errors"].get(str(code), {"texts": []})["texts"]]
    rows += [row for kind in ("of_ndb", "of_the_engine") for row in facts()[kind].get(str(code), ())]
    return [
        row["text"]
        for row in rows
        if server is None or _server(row.get("first", "0")) <= server < _server(row.get("before", "99"))
    ]


def allows(template: str, text: str) -> bool:
    """Whether the text, with its `VALUE`s, can be what the template makes: %s is any text, %d a number."""
    left = re.findall(r"%[sd]|[^%]|%", template)
    reached = {(0, 0)}
    done = set[tuple[int, int]]()
    while reached:
        at, to = reached.pop()
        if (at, to) in done:
            continue
        done.add((at, to))
        if at == len(left) and to == len(text):
            return True
        if to < len(text) and text[to] == VALUE:
            reached.add((at, to + 1))
            if at < len(left):
                reached.add((at + 1, to))
        if at < len(left) and left[at] in ("%s", "%d"):
            reached.add((at + 1, to))
            if to < len(text) and (left[at] == "%s" or text[to] in "0123456789" + VALUE):
                reached.add((at, to + 1))
        elif at < len(left) and to < len(text) and left[at] == text[to]:
            reached.add((at + 1, to + 1))
    return False


def wrong(code: int, state: str | None, text: str | None, server: tuple[int, ...] | None = None) -> str:
    """What is false in an error; empty: nothing. `state` and `text` are None where they are not known."""
    row = facts()["errors"].get(str(code))
    if row is None and str(code) not in facts()["of_the_engine"]:
        return f"no server has {code}"
    expected = row["sqlstate"] if row else "HY000"
    if state is not None and state != expected:
        return f"{code} has SQLSTATE {expected}, not {state}"
    if text is not None and not any(allows(one, text) for one in texts(code, server)):
        return f"{code} is not worded so: {text!r}"
    return ""


class Written(NamedTuple):
    """An error as it is written in the source; its text with `VALUE` for what is worked out."""

    place: str
    code: int
    state: str | None
    text: str | None


class _Reader:
    """Reads what a module writes of errors."""

    def __init__(self, name: str, tree: ast.Module, module: Mapping[str, Any]) -> None:
        self.name, self.tree, self.module = name, tree, module

    def errors(self) -> Iterator[Written]:
        for scope in ast.walk(self.tree):
            if isinstance(scope, (ast.FunctionDef, ast.Module)):
                for node in _own(scope):
                    yield from self._of(node, scope)

    def _of(self, node: ast.AST, scope: ast.AST) -> Iterator[Written]:
        parts: Sequence[ast.expr] = ()
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            parts = node.args if called in _RAISES else ()
        elif isinstance(node, ast.Tuple) and any(self._state(one) for one in node.elts):
            parts = node.elts
        if isinstance(node, ast.Dict):
            yield from self._of_table(node, scope)
        for at, part in enumerate(parts):
            for code in self._codes(part, scope):
                state = next((s for s in map(self._state, parts[at + 1 : at + 2]) if s), None)
                behind = parts[at + 2 if state else at + 1 :][:1]
                before = parts[at - 1 : at] if getattr(node, "func", None) and called == "cannot_add" else ()
                for text in self._texts((*before, *behind)[0], scope) if (*before, *behind) else (None,):
                    yield Written(f"{self.name}:{part.lineno}", code, state, text)

    def _of_table(self, node: ast.Dict, scope: ast.AST) -> Iterator[Written]:
        """Texts by number, if all are numbers of a server: those of data nodes are lower in part."""
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        for key, value in zip(keys, node.values, strict=True):
            if type(key) is int and all(type(one) is int and one >= _FIRST for one in keys):
                for text in self._texts(value, scope):
                    filled = text and re.sub(r"\{\w+\}", VALUE, text)
                    yield Written(f"{self.name}:{value.lineno}", key, None, filled)

    def _state(self, node: ast.expr) -> str | None:
        value = node.value if isinstance(node, ast.Constant) else None
        return value if isinstance(value, str) and _STATE.fullmatch(value) else None

    def _codes(self, node: ast.expr, scope: ast.AST) -> list[int]:
        if isinstance(node, ast.IfExp):
            return self._codes(node.body, scope) + self._codes(node.orelse, scope)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return [node.value]
        if isinstance(node, ast.Name):
            given = self._given(node.id, scope, node.lineno)
            if given is not None:
                return self._codes(given, scope)
            return [self.module[node.id]] if type(self.module.get(node.id)) is int else []
        return []

    def _texts(self, node: ast.expr, scope: ast.AST) -> Sequence[str | None]:
        """The texts that an expression can be; None: nothing of it is written."""
        found = [text for text in self._read(node, scope, node.lineno, 0) if re.search(r"\w{3}", text)]
        return found or (None,)

    def _read(self, node: ast.expr, scope: ast.AST, line: int, depth: int) -> list[str]:
        if isinstance(node, ast.Constant):
            return [VALUE if node.value is None else str(node.value)]
        if isinstance(node, ast.FormattedValue):
            return self._read(node.value, scope, line, depth)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, scope, line, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined([node.left, node.right], scope, line, depth)
        if isinstance(node, ast.IfExp):
            return [t for one in (node.body, node.orelse) for t in self._read(one, scope, line, depth)]
        if isinstance(node, ast.Name) and depth < 4:
            return self._named(node.id, scope, line, depth)
        return [VALUE]

    def _joined(self, parts: Sequence[ast.expr], scope: ast.AST, line: int, depth: int) -> list[str]:
        whole = [""]
        for part in parts:
            whole = [a + b for a in whole for b in self._read(part, scope, line, depth)][:64]
        return whole

    def _given(self, name: str, scope: ast.AST, line: int) -> ast.expr | None:
        """What a name was last given before a line of its function."""
        given = [
            one
            for one in _own(scope)
            if isinstance(one, ast.Assign)
            and one.lineno < line
            and any(isinstance(target, ast.Name) and target.id == name for target in one.targets)
        ]
        is_module = isinstance(scope, ast.Module)
        return None if is_module or not given else max(given, key=lambda one: one.lineno).value

    def _named(self, name: str, scope: ast.AST, line: int, depth: int) -> list[str]:
        """What a name was last given before a line, within its function; else the module's constant."""
        given = self._given(name, scope, line)
        if given is not None:
            return self._read(given, scope, given.lineno, depth + 1)
        value = self.module.get(name)
        is_own = any(isinstance(one, ast.arg) and one.arg == name for one in ast.walk(scope))
        return [value] if isinstance(value, str) and not is_own else [VALUE]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """What lies in a function, or in a module outside of its functions."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef):
            yield node
            yield from _own(node)


def written(name: str, source: str, module: Mapping[str, Any]) -> list[Written]:
    return list(_Reader(name, ast.parse(source), module).errors())


@cache
def all_written() -> tuple[Written, ...]:
    found: list[Written] = []
    for path in sorted((TRAIN / "sql").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if re.search(r"\b(?:SqlError|Warned|wrong|warn)\(", source):
            parts = ("ndbplan", "train", *path.relative_to(TRAIN).with_suffix("").parts)
            found += written(path.name, source, vars(import_module(".".join(parts))))
    return tuple(found)


def false_of(errors: Sequence[Written]) -> list[str]:
    return [f"{e.place}: {said}" for e in errors if (said := wrong(e.code, e.state, e.text))]


def test_what_the_source_writes_of_errors_is_what_servers_have() -> None:
    """Number, SQLSTATE and wording of each; read are most of them with their words."""
    found = all_written()
    assert false_of(found) == []
    assert len(found) > 230
    assert sum(one.text is not None for one in found) > 0.85 * len(found)
    assert len({one.code for one in found}) > 110


PLANTED: list[tuple[str, Callable[[str], str]]] = [
    ("foreign_keys.py", lambda s: s.replace("SqlError(3734,", "SqlError(3735,")),
    ("foreign_keys.py", lambda s: s.replace("SqlError(3734,", "SqlError(3730,")),
    ("foreign_keys.py", lambda s: s.replace("1829 if child else 1828", "1829 if child else 1827")),
    ("foreign_keys.py", lambda s: s.replace('SqlError(1701, "42000"', 'SqlError(1701, "HY000"')),
    ("foreign_keys.py", lambda s: s.replace("Cannot truncate a table", "Can not truncate a table")),
    ("local_tables.py", lambda s: s.replace("participates in", "takes part in")),
    ("new_tables.py", lambda s: s.replace('1068, "42000"', '1068, "HY000"')),
    ("values.py", lambda s: s.replace("Out of range value {where}", "Out of the range value {where}")),
    ("too_large.py", lambda s: s.replace("1070: ", "1068: ")),
    ("disk_data.py", lambda s: s.replace("1528, said", "1527, said")),
]


@pytest.mark.parametrize(("name", "plant"), PLANTED)
def test_a_planted_number_state_or_word_is_found(name: str, plant: Callable[[str], str]) -> None:
    path = TRAIN / "sql" / name
    source = path.read_text(encoding="utf-8")
    planted = plant(source)
    assert planted != source
    module = dict(vars(import_module(f"ndbplan.train.sql.{path.stem}")))
    for node in ast.parse(planted).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            module |= {one.id: node.value.value for one in node.targets if isinstance(one, ast.Name)}
    assert false_of(written(name, planted, module))


def shown(output: str) -> Iterator[tuple[int, str | None, str]]:
    """Errors in what a console printed: lines and rows of SHOW WARNINGS."""
    for code, state, text in _LINE.findall(output):
        yield int(code), state, text
    for code, text in _ROW.findall(output):
        yield int(code), None, text


def _recorded() -> Iterator[tuple[str, str]]:
    """Versions and outputs of real consoles."""
    answers = json.loads((REALITY / "sql-answers.json").read_text(encoding="utf-8"))
    yield from ((version, row["output"]) for version in answers if version != "source"
                for row in answers[version])  # fmt: skip
    for state in json.loads((REALITY / "state-answers.json").read_text(encoding="utf-8"))["states"]:
        yield from ((state["version"], row["output"]) for row in state["rows"])


def test_what_real_servers_said_is_in_the_table() -> None:
    """Every recorded line and warning; recordings win over any list."""
    seen = 0
    for version, output in _recorded():
        for error in shown(output):
            seen += 1
            assert wrong(*error, server_of(version)) == "", (version, error)
    assert seen > 100


def server_of(version: str) -> tuple[int, ...]:
    return _server(release_of(NdbVersion.parse(version)).mysql)


def _kept() -> Iterator[tuple[str, str, str]]:
    """Places, versions and texts of kept results of consoles."""
    plans = {path.stem: path for folder in (SAMPLES, PLANS) for path in folder.glob("*.ndbplan")}
    for path in sorted(RESULTS.glob("*/*.txt")):
        text = path.read_text(encoding="utf-8")
        if "ERROR " not in text and "| Warning |" not in text:
            continue
        named = re.search(r"-(\d+\.\d+\.\d+)$", path.stem)
        plan = plans.get(path.parent.name)
        version = named[1] if named else str(load(plan).version) if plan else ""
        yield f"{path.parent.name}/{path.name}", version, text


def test_kept_consoles_show_what_a_server_of_their_version_says() -> None:
    seen = 0
    false: list[str] = []
    for place, version, text in _kept():
        server = server_of(version) if version else None
        for code, state, said in shown(text):
            seen += 1
            false += [f"{place}: {told}" for told in (wrong(code, state, said, server),) if told]
    assert false == []
    assert seen > 500


WORDED_BY_VERSION = {
    "not_grouped": (1055, {"place": 1, "column": "test.t.a"}),
    "beside_aggregates": (1140, {"place": 1, "column": "test.t.a"}),
    "too_many_digits": (1426, {"digits": 70, "column": "a", "most": 65}),
    "file_not_found": (2, {"name": "/tmp/x.csv"}),
    "no_server_there": (2003, {"address": "host-1", "port": 3306}),
    "key_has_all": (1503, {}),
}


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("name", WORDED_BY_VERSION)
def test_wordings_by_version_are_those_of_the_server_of_the_version(name: str, series: str) -> None:
    code, values = WORDED_BY_VERSION[name]
    text = form(NdbVersion.parse(series), name).format(**values)
    assert wrong(code, None, text, server_of(series)) == ""


@pytest.mark.parametrize(
    ("version", "line", "said"),
    [
        ("7.4", "CREATE TABLE d (a DECIMAL(70,2)) ENGINE=NDB",
         "1426 (42000): Too big precision 70 specified for column 'a'. Maximum is 65."),
        ("7.6", "CREATE TABLE d (a DECIMAL(70,2)) ENGINE=NDB",
         "1426 (42000): Too-big precision 70 specified for 'a'. Maximum is 65."),
        ("7.4", "SET sql_mode='ONLY_FULL_GROUP_BY'; SELECT node_id, COUNT(*) FROM ndbinfo.nodes",
         "1140 (42000): Mixing of GROUP columns (MIN(),MAX(),COUNT(),...) with no GROUP columns is illegal"),
        ("7.4",
         "SET sql_mode='ONLY_FULL_GROUP_BY'; SELECT uptime, COUNT(1) FROM ndbinfo.nodes GROUP BY status",
         "1055 (42000): 'ndbinfo.nodes.uptime' isn't in GROUP BY"),
        ("7.4", "DROP DATABASE mysql", "a server of this version without its database"),
        ("8.4.8", "DROP DATABASE mysql", "3552 (HY000): Access to system schema 'mysql' is rejected."),
    ],
)  # fmt: skip
def test_older_servers_use_their_own_words(
    begun: Callable[[str], LiveCluster], version: str, line: str, said: str
) -> None:
    consoles = Consoles(begun(version))
    outputs = [consoles.answer(f"mysql> {one};") for one in ("USE test", *line.split("; "))]
    assert said in outputs[-1]


def test_what_takes_too_many_steps_is_not_said_to_have_run_out_of_time(
    begun: Callable[[str], LiveCluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server gives 3024 unless max_execution_time is set, which it is not here."""
    monkeypatch.setattr(engine, "MOST_STEPS", 0)
    said = Consoles(begun("7.4")).answer(
        "mysql> SELECT COUNT(*) FROM ndbinfo.counters a, ndbinfo.counters b;"
    )
    assert "too much for the SQL that is simulated here" in said
    assert "3024" not in said
