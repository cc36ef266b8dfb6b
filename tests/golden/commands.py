"""What is asked of each kept plan, and the answers as text: one file for each command."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broken_plans import BROKEN
from golden import columns, deeds
from golden.described import described
from golden.edits import changed_by_edits
from golden.functions import PARTS, answers
from golden.text import LONGEST_LIST, digest, lines_of, term_line
from golden.texts import kinds, read_texts
from ndbplan.ndb.version import SERIES
from ndbplan.operations.add_nodes import GROWN_FOLDER
from ndbplan.plan.file import load
from one_rule import of_rule

if TYPE_CHECKING:
    from ndbplan.checks.problem import Problem
    from ndbplan.plan.plan import Plan

FOLDER = Path(__file__).parent
PLANS = FOLDER / "plans"
DRAWN = FOLDER / "drawn"
"""Plans that nobody designed, chosen among 160 drawn ones (`random_plan` with more kinds of columns, loads
and events) so that few of them reach as many branches as possible. Those from 200 on are
overloaded: their disks and logs take less than is asked. What is quick is asked of all; the results
lie beside them."""
RESULTS = FOLDER / "results"
INPUTS = FOLDER / "inputs"
SAMPLES = FOLDER.parent.parent / "resources" / "samples"
LESSONS = FOLDER.parent.parent / "resources" / "lessons"

EXPORTED = "config,mycnf,runbook,systemd,operator,ansible"
"""Without the pictures, which hold positions of texts and no results."""
_SCRIPTS = {"starter", "four-replicas-8.4", "single-6.3-ndbd"}
"""Plans whose runbook.sh is kept too; it holds the commands of runbook.md."""
_SHORT_EXPORTED = "config,mycnf"
_LARGE = {"telecom-144", "few-keys-and-jobs-8.4", "four-replicas-8.4"}
_WHOLE_EXPORTS = {"starter", "disk-data-8.4", "redo-overload"}
"""Samples whose runbooks are kept; those of the others say the same with other names."""
_CALIBRATED = {
    "starter", "measured-7.4.10", "calibrated-7.5", "three-replicas-7.4", "disk-data", "add-nodes-8.4",
    "tick-store", "single-6.3-ndbd", "in-memory-7.0", "problems-7.2",
}  # fmt: skip
"""Plans whose calibration is kept: it searches through estimates that those of other plans keep."""
_A_DAY = {"tick-store", "single-6.3-ndbd"}
"""Plans whose load is sought for a day too, which takes seconds."""
WORKLOAD, LAST_WORKLOAD = "«workload»", "«last workload»"
NODE, NODES, HOSTS = "«node»", "«nodes»", "«hosts»"
"""In arguments: the first data node, data node of each group and host of a data node of a plan."""

_IN_WORDS = re.compile(r"\.(title|description) = ")

Asked = Mapping[str, tuple[tuple[str, ...], ...]]

EVERY: Asked = {
    "check": (("check",),),
    "fix": (("fix", "--dry-run"),),
    "distribute": (("distribute",),),
    "estimate": (("estimate", "--months", "12"),),
    "restart": (
        *(("restart", "--kind", kind) for kind in ("node", "initial", "system", "start", "rolling")),
        ("restart", "--kind", "rolling", "--together"),
        ("restart", "--kind", "node", "--under", WORKLOAD, "--traffic", "2", "--disk-speed", "0.5"),
        ("restart", "--kind", "initial", "--node", NODE, "--ldm", "2", "--sql-down", "1"),
    ),
    "reorg": (("reorg", "--add-groups", "1", "--under", WORKLOAD),),
    "backup": (("backup",), ("backup", "--under", WORKLOAD)),
    "procedure": (("procedure", "--under", WORKLOAD),),
    "survive": (
        ("survive",),
        ("survive", "--dead", NODES),
        ("survive", "--cut", HOSTS, "--then", NODE),
    ),
    "max-load": (("max-load", "--for", "1h"),),
    "remedies": (("remedies",),),
    "simulate": (("simulate", "--for", "120s", "--csv", "OUT/series.csv"),),
    "runs": (("simulate", "--for", "20s", "--runs", "5", "--seed", "7"),),
    "diff": (("diff",),),
    "calibrate": (
        ("calibrate", "--restarted", "75s", "-o", "OUT/calibrated.ndbplan"),
        ("calibrate", "--restarted", "10min", "-o", "OUT/calibrated.ndbplan"),
        ("calibrate", "--reorganised", "20min", "-o", "OUT/calibrated.ndbplan"),
    ),
}

OF_SOME: Mapping[str, Asked] = {
    "redo-overload": {
        "what-matters": (("what-matters",), ("what-matters", "--aim", "restart", "--all")),
        "size": (("size",),),
        "sweep": (
            (
                "sweep", "--vary", "RedoBuffer=32M,64M", "--vary", "redo.disk.write=30MB/s,60MB/s",
                "--measure", "max-load,first-error,restart,memory,survive", "--workers", "1",
                "-o", "OUT/sweep",
            ),
        ),
        "report": (("report", "-o", "OUT/report.html"),),
        "drawings": (
            ("report", "-o", "OUT/report.html"),
            ("report", "-o", "OUT/report.pptx"),
            ("procedure", "--gantt", "OUT/grown.svg"),
            ("procedure", "--kind", "roll-out", "--set", "RedoBuffer", "--gantt", "OUT/rolled.svg"),
        ),
    },
    "three-replicas-7.4": {
        "train": (("train", "--for", "6h"),),
        "statements": (("train", "--for", "6h"),),
    },
    "starter": {
        "train": (("train", "--for", "6h"),),
        "statements": (("train", "--for", "6h"),),
        "cost": (("cost",),),
    },
    "disk-data-8.4": {"statements": (("train", "--for", "6h"),)},
    "types-and-indexes-8.0": {"tighten": (("tighten",),), "parameters": (("parameters",),)},
}  # fmt: skip
"""What takes seconds, or says much."""

FOUND = "found"
"""No command: what rules find, with the edits they have in mind; `check` tries each, which takes seconds."""
DESCRIBED = "described"
"""No command: what the window alone shows."""
RULES = "rules"
"""No command: what each rule finds in a plan that breaks it, and where each way out leads."""
EDITS = "edits"
"""Nor this: what people do to a plan in the window."""
FUNCTIONS = "functions"
"""Nor this: what a mysql console's functions answer."""
COLUMNS = "columns"
"""Nor this: what ndb_restore says of two kinds of columns."""
DEEDS = "deeds"
"""Nor this: what the lines of a trainer stand for."""
TEXTS = "texts"
"""No command either: what is read of texts of a kind."""
_OF_DRAWN: Asked = {
    "distribute": (("distribute",),),
    "estimate": (("estimate", "--months", "12"),),
    "restart": (
        ("restart", "--kind", "initial"),
        ("restart", "--kind", "system"),
        ("restart", "--kind", "rolling"),
        ("restart", "--kind", "node", "--under", WORKLOAD),
    ),
    "reorg": (("reorg", "--add-groups", "1", "--under", WORKLOAD),),
    "backup": (("backup", "--under", WORKLOAD),),
    "survive": (("survive",),),
    "procedure": (("procedure",), ("procedure", "--kind", "roll-out", "--set", "RedoBuffer")),
    "simulate": tuple(
        ("simulate", "--workload", workload, "--for", "20s", "--csv", "OUT/series.csv")
        for workload in (WORKLOAD, LAST_WORKLOAD)
    ),
    "export": (("export", "--only", "config,mycnf", "--to", "OUT/files"),),
    FOUND: ((FOUND,),),
    DESCRIBED: ((DESCRIBED,),),
}

_SESSIONS = {"train": "session.txt", "statements": "statements.txt"}
"""What is typed at a live cluster: hours of it, or every statement and program."""
WITHOUT_A_PLAN = "without-a-plan"
"""Results of commands that read other files, or write a plan, are kept under this name."""
_KEYS = "CREATE TABLE t (id BIGINT UNSIGNED, name VARCHAR(10) CHARACTER SET utf8mb4, PRIMARY KEY (id, name))"
_ALONE: Asked = {
    "schema": (("schema",),),
    "import-config": tuple(
        ("import", "IN/running.ini", "--version", version, "-o", "OUT/new.ndbplan")
        for version in ("7.2", "7.4", "8.4")
    ),
    "import-tables": (
        ("import", "IN/schema.sql", "IN/rows.txt", "--version", "8.0", "-o", "OUT/new.ndbplan"),
        ("import", "IN/schema.sql", "--version", "7.1", "-o", "OUT/new.ndbplan"),
    ),
    "import-together": (
        (
            "import", "IN/status.txt", "IN/running.ini", "IN/rows.txt", "IN/schema.sql",
            "-o", "OUT/new.ndbplan",
        ),
    ),
    "import-measured": tuple(
        ("import", f"IN/{file}", "--into", "PLAN/starter", "--disk", disk, "-o", "OUT/new.ndbplan")
        for file, disk in (("iostat.txt", "host-a1/nvme0=nvme0n1"), ("fio.json", "host-a1/nvme1"))
    ),
    "partition": tuple(
        ("partition", "--ddl", _KEYS, "--partitions", partitions, "--version", version, *more)
        for partitions, version, more in (
            ("8", "8.4", ()),
            ("6", "7.4", ("--grown", "2,4")),
            ("24", "8.4", ("--buckets", "240", "--json")),
        )
    ),
    "set": (
        (
            "set", "PLAN/starter", "hosts[host-a1].memory=512GiB", "RedoBuffer=64M",
            "redo.disk.write=300MB/s",
            "tables[*].growth_rows_per_month=10k", "workloads[day].duration_s=20min", "-o", "OUT/new.ndbplan",
        ),
        ("set", "PLAN/starter", "hosts[host-a1].cores=0", "-o", "OUT/new.ndbplan"),
    ),
    "add": tuple(
        ("add", "PLAN/starter", *words, "-o", "OUT/new.ndbplan")
        for words in (
            ("host", "a3", "cores=16", "memory=64GB"), ("disk", "host=host-a1", "nvme7"), ("node-group",),
            ("management", "host=host-b1"), ("sql", "host=app-a1"), ("api",), ("workload", "night"),
            ("table", "shop.more"), ("tablespace", "ts"), ("copy", "hosts[host-a1]"),
        )
    ),
    "remove": tuple(
        ("remove", "PLAN/starter", address, "-o", "OUT/new.ndbplan")
        for address in ("hosts[host-a1]", "tables[*]", "processes[*]", "workloads[*]")
    ),
    "compare": (
        ("compare", "PLAN/redo-overload", "PLAN/redo-overload-8.4"),
        ("compare", "PLAN/types-and-indexes-8.0", "PLAN/three-replicas-7.4", "--no-simulation"),
    ),
    "demo": tuple(("demo", "play", name) for name in ("slow-disk", "growing", "terabyte")),
    RULES: ((RULES,),),
    EDITS: ((EDITS,),),
    COLUMNS: ((COLUMNS,),),
    DEEDS: ((DEEDS,),),
    **{f"functions-{part}": ((FUNCTIONS, part),) for part in PARTS},
    # What was typed at the recorded clusters of 8.4.8 and 7.4.10 (mysql, four data nodes, all started), in
    # its order, at clusters of the same nodes; `USE` before what was typed in another session.
    **{f"typed-{v}": (("train", f"IN/recorded-{v}.ndbplan", "--for", "6h"),) for v in ("7.4.10", "8.4.8")},
    **{f"{TEXTS}-{kind}": ((TEXTS, kind),) for kind in kinds()},
    # What tests of the consoles type, at the cluster that they have; each test begins where nothing was done.
    **{
        f"asked-{part}": (("train", f"IN/asked-{part.partition('-')[0]}.ndbplan", "--for", "6h"),)
        for part in ("7.4.10", "8.4.8-1", "8.4.8-2", "8.4.8-3", "8.4.8-4")
    },
    # Each lesson by a route that is not the first, with a hint, a wrong word and a look at the score; its
    # debriefing, and what would have come of one thing more.
    **{f"lesson-{path.stem}": (("lesson", "play", path.stem),) for path in sorted(LESSONS.glob("*.yaml"))},
    "diff": (
        ("diff", "PLAN/add-nodes-8.4", "PLAN/add-nodes"),
        ("diff", "PLAN/redo-overload-8.4", "PLAN/redo-overload"),
        ("diff", "PLAN/uneven-hosts-8.0", "PLAN/types-and-indexes-8.0"),
        ("diff", "PLAN/starter", "IN/running.ini"),
    ),
}  # fmt: skip

NDBINFO = (
    "logbuffers", "logspaces", "memoryusage", "disk_write_speed_aggregate_node", "resources", "restart_info",
    "cluster_operations", "cpustat",
)  # fmt: skip
"""Tables of a moment; a version that lacks one, or does not simulate it, refuses it, which is kept too."""


def plan_files() -> dict[str, Path]:
    """Every plan that is asked, by its name: the samples, and the small plans made for their branches."""
    return {path.stem: path for folder in (SAMPLES, PLANS) for path in sorted(folder.glob("*.ndbplan"))}


def drawn_files() -> dict[str, Path]:
    """The drawn plans by their name."""
    return {path.stem: path for path in sorted(DRAWN.glob("*.ndbplan"))}


def names() -> tuple[str, ...]:
    """What results are kept of: every plan, and the commands that need none. Drawn plans apart."""
    return (*plan_files(), WITHOUT_A_PLAN)


def asked_of(name: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The commands for a plan by the name of their file."""
    if name in drawn_files():
        return dict(_OF_DRAWN)
    found = dict(EVERY)
    if name in _LARGE:
        # Up to half a minute, and nothing that other plans do not say.
        del found["remedies"]
    if name == "telecom-144":
        del found["runs"]
    if name not in _CALIBRATED:
        del found["calibrate"]
    is_small = (PLANS / f"{name}.ndbplan").exists()
    kinds = EXPORTED if is_small or name in _WHOLE_EXPORTS else _SHORT_EXPORTED
    found["export"] = (("export", "--only", kinds, "--to", "OUT/files"),)
    if is_small:
        found[DESCRIBED] = ((DESCRIBED,),)
        found[FOUND] = ((FOUND,),)
        found["pairs"] = (("survive", "--depth", "2"),)
        found["ndbinfo"] = tuple(("simulate", "--for", "30s", "--table", table) for table in NDBINFO)
        found["terms"] = (("estimate", "--why"), ("backup", "--why"))
        found["procedure"] = (
            ("procedure", "--under", WORKLOAD, "--effect"),
            ("procedure", "--kind", "roll-out", "--set", "RedoBuffer,NoOfFragmentLogFiles"),
            ("procedure", "--to-version", _next_series(name)),
        )
        found["simulate"] = (("simulate", "--csv", "OUT/series.csv"),)
        found["workloads"] = tuple(
            call
            for workload in _read(name).get("workloads", ())[1:]
            for call in (
                ("simulate", "--workload", workload["id"], "--csv", "OUT/series.csv"),
                ("max-load", "--workload", workload["id"]),
                ("estimate", "--workload", workload["id"], "--only", "cpu,network,disks,redo"),
            )
        )
    if name in _A_DAY:
        found["max-load"] += (("max-load", "--for", "24h"),)
    return {title: calls for title, calls in (found | dict(OF_SOME.get(name, {}))).items() if calls}


def _read(name: str) -> Any:
    return json.loads(_file_of(name).read_text(encoding="utf-8"))


def _next_series(name: str) -> str:
    """The series of the product after that of a plan; of the last one itself."""
    at = SERIES.index(load(_file_of(name)).version.series)
    return SERIES[min(at + 1, len(SERIES) - 1)]


def _file_of(name: str) -> Path:
    return (plan_files() | drawn_files())[name]


def folder_of(name: str) -> Path:
    """Where the results of a plan are kept."""
    return (DRAWN if name in drawn_files() else RESULTS) / name


def titles(name: str) -> tuple[str, ...]:
    """What is asked of a plan: the names of its files of results."""
    return tuple(_ALONE if name == WITHOUT_A_PLAN else asked_of(name))


def results(name: str, asked: Collection[str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of these files of a plan by file name; `folder`: an empty one for what commands write."""
    is_alone = name == WITHOUT_A_PLAN
    calls_of = _ALONE if is_alone else asked_of(name)
    for title in asked:
        lines: list[str] = []
        for i, call in enumerate(calls_of[title]):
            out = folder / f"{title}-{i}"
            out.mkdir()
            if title in _TOLD:
                lines += _TOLD[title](load(_file_of(name)))
            elif is_alone:
                lines += _answer_alone(title, call, out)
            else:
                source = _file_of(name)
                lines += _answer(_filled(call, source), source, out, title)
        yield f"{title}.txt", lines


def _found(plan: Plan) -> Iterator[str]:
    from ndbplan.checks.run import find

    for found in find(plan):
        yield from _problem(plan, found.told().cured())


def _problem(plan: Plan, problem: Problem) -> Iterator[str]:
    """What is said, the change behind its button, and those of its ways out."""
    from ndbplan.edits.changes import value_changes

    yield f"{problem.severity} {problem.rule} at {problem.where}: {problem.message}"
    yield f"    about {' '.join(problem.object_ids[:LONGEST_LIST])}, measure {problem.measure:.9g}"
    yield from (f"    {words}" for words in (problem.fix, problem.missing) if words)
    ways = ((f"{way.title}: {way.why}", way.edit) for way in problem.solutions)
    for title, edit in (("", problem.edit), *ways):
        if title:
            yield f"    or {title}"
        for change in value_changes(plan, edit(plan))[:LONGEST_LIST] if edit is not None else ():
            yield f"    {change.scope}.{change.name}: {change.before} -> {change.after}"


_OF_MODULES: Mapping[str, Callable[[], Iterator[str]]] = {
    EDITS: changed_by_edits, COLUMNS: columns.answers, DEEDS: deeds.answers,
}  # fmt: skip
_TOLD: Mapping[str, Callable[[Plan], Iterator[str]]] = {FOUND: _found, DESCRIBED: described}


def _answer_alone(title: str, call: tuple[str, ...], out: Path) -> Iterator[str]:
    """What a command prints, and the plan that it writes."""
    yield f"## {' '.join(call)}"
    places = {"IN": str(INPUTS), "OUT": str(out)} | {f"PLAN/{k}": str(p) for k, p in plan_files().items()}

    def placed(word: str) -> str:
        return places.get(word) or str(Path(places.get(word.partition("/")[0], "")) / word.partition("/")[2])

    is_place = re.compile("(IN|OUT|PLAN)/")
    words = [placed(word) if is_place.match(word) else word for word in call]
    if call[0] == TEXTS:
        yield from read_texts(call[1])
        return
    if call[0] == FUNCTIONS:
        yield from answers(call[1])
        return
    if call[0] in _OF_MODULES:
        yield from _OF_MODULES[call[0]]()
        return
    if call[0] == RULES:
        for rule, broken in BROKEN.items():
            plan = broken()
            yield from (line for problem in of_rule(plan, rule) for line in _problem(plan, problem))
        return
    if call[0] == "train":
        _, printed, _ = run(*words, stdin=(INPUTS / f"{title}.txt").read_bytes())
        yield from _without_long_answers(printed, _PROMPT if title.startswith("asked") else "mysql> ")
        return
    if call[:2] == ("lesson", "play"):
        yield from _lesson(call[2], out)
        return
    if call[0] != "partition" and "--json" not in words:
        words.append("--json")
    code, printed, said = run(*words, stdin=(INPUTS / "keys.csv").read_bytes())

    def shown(text: str) -> str:
        for name, place in reversed(places.items()):
            text = text.replace(place, name)
        return text

    yield from (f"stderr: {shown(line)}" for line in said)
    if code:
        yield f"exit code {code}"
    if "--json" in words and printed:
        lines = (shown(line) for line in lines_of(json.loads(printed)))
        # Titles and descriptions of a schema are words, not rules.
        yield from (line for line in lines if not _IN_WORDS.search(line))
    else:
        yield from printed.splitlines()
    for path in sorted(out.glob("*.ndbplan")):
        yield f"#### {path.name}"
        before = [_read(word.removeprefix("PLAN/")) for word in call if word.startswith("PLAN/")]
        yield from _changed(before[0] if before else {}, json.loads(path.read_text(encoding="utf-8")))


def _drawings(report: Path) -> Iterator[str]:
    """How what is drawn begins, and a sum of it: charts of a page or alone, and slides with their charts."""
    if report.suffix != ".pptx":
        drawn = re.findall(r"(?s)<svg.*?</svg>", report.read_text(encoding="utf-8"))
    else:
        with zipfile.ZipFile(report) as slides:
            parts = [name for name in slides.namelist() if re.search(r"/(slide|chart)[0-9]*\.xml$", name)]
            drawn = [slides.read(name).decode() for name in sorted(parts)]
    for one in (re.sub(r"(?s)<metadata.*?</metadata>", "", one) for one in drawn):
        elements = re.findall(r"<[^/?][^>]*>", one)
        yield from (element[:200] for element in elements[:_DRAWN])
        yield f"… {len(elements)} in all: {_sum(one)}"


_DRAWN = 8
"""Elements of a drawing that are shown."""


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


_LONGEST_ANSWER = 24
_PROMPT = r"(?:mysql[0-9]*>|ndb_mgm>|lesson>|[a-z0-9]+\$|!) "
"""Of any console, and what befalls."""


def _without_long_answers(printed: str, prompt: str = "mysql> ") -> Iterator[str]:
    """What a console showed; of long answers the beginning, and a sum of the rest."""
    for answer in re.split(rf"^(?={prompt})", printed, flags=re.MULTILINE):
        lines = answer.splitlines()
        yield from lines[:_LONGEST_ANSWER]
        if rest := lines[_LONGEST_ANSWER:]:
            yield f"… {len(rest)} more lines: {_sum(''.join(rest))}"


def _changed(before: Any, now: Any) -> Iterator[str]:
    """Lines of a plan that another did not have, and those that it lacks."""
    old, new = list(lines_of(before)) if before else [], list(lines_of(now))
    yield from (line for line in new if line not in old)
    yield from (f"gone: {line}" for line in old if line not in new)


def _filled(call: tuple[str, ...], source: Path) -> tuple[str, ...]:
    """The call with the plan's own names; a plan without any keeps what is refused."""
    plan = _read(source.stem)
    nodes = [part for part in plan.get("processes", ()) if part["kind"] == "data"]
    first = nodes[0] if nodes else {"node_id": 1, "host_id": "none"}
    last = nodes[-1] if nodes else first
    workloads = [workload["id"] for workload in plan.get("workloads", ())]
    hostname = {host["id"]: host["hostname"] for host in plan.get("hosts", ())}
    names = {
        WORKLOAD: next(iter(workloads), "none"),
        LAST_WORKLOAD: next(reversed(workloads), "none"),
        NODE: str(first["node_id"]) if "--node" in call else f"node:{first['node_id']}",
        NODES: f"node:{first['node_id']},node:{last['node_id']}",
        HOSTS: f"host:{hostname.get(first['host_id'], 'none')}",
    }
    return tuple(names.get(word, word) for word in call)


def _answer(call: tuple[str, ...], source: Path, out: Path, title: str) -> Iterator[str]:
    command, *options = call
    yield f"## {' '.join(call)}"
    if command == "train":
        _, printed, _ = run(command, str(source), *options, stdin=_session(source, _SESSIONS[title]).encode())
        yield from printed.splitlines()
        return
    words = [word.replace("OUT", str(out), 1) if word.startswith("OUT/") else word for word in options]
    code, printed, said = run(command, str(source), *words, "--json")
    for line in said:
        yield "stderr: " + line.replace(str(out), "OUT").replace(str(source), "PLAN")
    if code:
        yield f"exit code {code}"
    if not printed:
        return
    shape = json.loads(printed)
    if title == "terms":
        yield from sorted(set(_terms(shape)))
        return
    if title == "report":
        yield from _texts(out / "report.html")
        return
    if title == "drawings":
        for path in out.iterdir():
            yield from _drawings(path)
        return
    files = [Path(name) for name in shape.pop("files", ())] if isinstance(shape, dict) else []
    yield from lines_of(shape)
    for path in files if title == "export" else ():
        if path.name == "runbook.sh" and source.stem not in _SCRIPTS:
            continue
        place = path.relative_to(out / "files")
        yield f"#### {place}"
        if place.is_relative_to(GROWN_FOLDER) and path.name != "config.ini":
            # A test of the export says that it is the folder of the grown plan.
            continue
        yield from path.read_text(encoding="utf-8").splitlines()
    for path in sorted(out.rglob("*.csv")):
        yield from _series(path)


def _session(source: Path, file: str) -> str:
    """What is typed and befalls in a session of training, with the plan's own names."""
    plan = _read(source.stem)
    host_of = {host["id"]: host for host in plan["hosts"]}
    nodes: dict[str, list[Any]] = {}
    for node in plan["processes"]:
        nodes.setdefault(node["kind"], []).append(node)
    first, last = nodes["data"][0], nodes["data"][-1]
    host, table = host_of[first["host_id"]], plan["tables"][0]
    names = {
        "host": host["hostname"],
        "its host": host_of[last["host_id"]]["hostname"],
        "disk": f"{host['hostname']}/{host['disks'][0]['name']}",
        "first": first["node_id"],
        "node": last["node_id"],
        "api": nodes["sql"][0]["node_id"],
        "server": nodes["management"][0]["node_id"],
        "database": table["database"],
        "name": table["name"],
        "other": plan["tables"][-1]["name"],
        "table": f"{table['database']}.{table['name']}",
    }
    text = (INPUTS / file).read_text(encoding="utf-8")
    return re.sub("«([a-z ]+)»", lambda found: str(names[found[1]]), text)


def _lesson(name: str, out: Path) -> Iterator[str]:
    """A lesson that is played, its page, and what half the load after a minute would have changed."""
    from ndbplan.train.lessons.files import own
    from ndbplan.train.lessons.play import Play, lines_of_route

    (lesson,) = (one.value for one in own() if one.value.name == name)
    route = lines_of_route(Play(lesson, lesson.starts[-1]), 1)
    asked = ["lesson> story", "lesson> task", "lesson> answer nosuch b", "lesson> hint", *route]
    page = str(out / "page.html")
    _, printed, _ = run(
        "lesson", "play", name, "--start", lesson.starts[-1].name, "--trainee", "somebody", "-o", page,
        stdin="\n".join((*asked, "lesson> score")).encode(),
    )  # fmt: skip
    yield from _without_long_answers(
        printed.replace(str(out), "OUT"), r"(?:mysql|ndb_mgm|lesson|[a-z0-9]+\$|!)>? "
    )
    for words in ((), ("--had", "1:00 ! load x0.5")):
        _, printed, said = run("lesson", "debrief", page, *words, "--json")
        yield f"#### debrief {' '.join(words)}"
        yield from (line.replace(str(out), "OUT") for line in said)
        told = lines_of(json.loads(printed)) if printed else ()
        yield from (line for line in told if "sha256" not in line)


def _texts(page: Path) -> Iterator[str]:
    """What people read on a page, a line for each piece of it; not the plan that travels along."""
    body = page.read_text(encoding="utf-8").partition("<body")[2]
    shown = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", body)
    pieces = (unescape(piece).strip() for piece in re.split(r"<[^>]*>", shown)[1:])
    # A listing is one piece of many lines.
    yield from (line for piece in pieces if piece for line in piece.splitlines())


def run(*words: str, stdin: bytes = b"") -> tuple[int, str, list[str]]:
    """Exit code, stdout and the lines of stderr of a command in this process."""
    from ndbplan.cli import main

    written = io.BytesIO()
    argv, out, err = sys.argv, io.TextIOWrapper(written, encoding="utf-8"), io.StringIO()
    keyboard, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.argv = ["ndbplan", *words]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv, sys.stdin = argv, keyboard
        out.flush()
    # Whether something is compiled first depends on what ran before.
    said = [line for line in err.getvalue().splitlines() if not line.startswith("preparing ")]
    return (code if isinstance(code, int) else 0), written.getvalue().decode(), said


def _terms(shape: Any) -> Iterator[str]:
    """What every number is made of; the names of the terms first, so that sorted lines stand by them."""
    if isinstance(shape, Mapping):
        if {"term", "source"} <= shape.keys():
            yield term_line(shape)
        else:
            for part in shape.values():
                yield from _terms(part)
    elif isinstance(shape, list):
        for part in shape:
            yield from _terms(part)


def _series(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        heads, *rows = csv.reader(stream)
    for head, column in zip(heads, zip(*rows, strict=True), strict=True):
        yield digest(f"series.{head}", [_number(text) for text in column])


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
