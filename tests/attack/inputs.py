"""Mutated inputs for everything that reads what people, files and other programs hand in.

    python tests/attack/inputs.py --inputs 1000000 --seconds 3600 --seed 7

Each input either gives an answer or an error in one line, soon; a plan that comes out of it is one that the
program's own reader accepts. What else happens is a finding: the seed and the input are printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from importing import test_console_output, test_measured_series, test_measurements, test_statistics
from ndbplan.base import units
from ndbplan.base.authored import Kind
from ndbplan.base.errors import UserError
from ndbplan.base.resources import resource_path
from ndbplan.demo.files import DEMOS
from ndbplan.edits import parts as edits
from ndbplan.edits.variants import added
from ndbplan.importing.measured_series import read_measured
from ndbplan.plan import file, journal
from ndbplan.plan.plan import FORMAT_VERSION, Plan
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.train.lessons.files import LESSONS

LONGEST_S = 2.0
"""Processor time within which an input of a few kilobytes is answered, on any machine."""
LONGEST_LINE = 1000
"""Letters of an error that a person reads."""

TOKENS = (
    "9" * 400, "9" * 5000, "1" + "0" * 39, "-1", "0", "1e400", "1e-400", "NaN", "Infinity", "-0", "²", "٣",
    "0x7f", "65535", "4096000000", "18446744073709551616", "9999-12-31", "99999999999999999999", "1e-9",
    "a" * 300, "😀", "\ufffe", "\u2028", "\x00", "\x1b[31m", "\ud800", "é" * 70, "{{ x }}", "${x}", "$(x)",
    "`x`", "';--", "1e15", "1e", "١٢",
    "[" * 3000, "{" * 3000, '"' * 5, "(" * 2000, "," * 500, "/*", "*/", "\\", "..", "../../x", " " * 2000,
    "\n" * 200,
    "\t", "\r", "=", ":", ";", "[ndbd default]", "[x]", "NULL", "true", "null", "{}", "[]", "-" * 80,
    "+" + "-" * 40 + "+",
)  # fmt: skip


class Finding(NamedTuple):
    """An input that was answered by neither a result nor an error in one line."""

    reader: str
    what: str
    content: bytes
    slow: bool = False
    """It was answered, but late."""


@dataclass(frozen=True)
class Reader:
    """Something that takes an input; `seeds` are inputs it accepts. `read` gives the plan that came of it."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes], Plan | Project | None]
    turns: int = 40
    """How often it is asked while others are asked 40 times: those that do much take most of the time."""


def mutated(random: Random, seeds: tuple[bytes, ...]) -> bytes:
    """A seed with some of it exchanged, taken out, doubled or put elsewhere."""
    content = random.choice(seeds)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
        begin = random.randrange(len(content) + 1)
        end = min(len(content), begin + random.choice((0, 1, 1, 2, 8, 40, 400)))
        token = random.choice(TOKENS).encode("utf-8", "surrogatepass")
        kind = random.randrange(9)
        if kind == 0:
            content = content[:begin] + bytes([random.randrange(256)]) + content[begin + 1 :]
        elif kind == 1:
            content = content[:begin] + token + content[end:]
        elif kind == 2:
            content = content[:begin] + content[end:]
        elif kind == 3:
            content = content[:end] + content[begin:end] * random.choice((1, 2, 50)) + content[end:]
        elif kind == 4:
            content = content[:begin]
        elif kind == 5:
            content = content[:begin] + random.choice(seeds)[begin : begin + 200] + content[end:]
        elif kind == 6:
            content = _other_number(random, content, token)
        elif kind == 7:
            lines = content.split(b"\n")
            random.shuffle(lines) if random.random() < 0.2 else lines.pop(random.randrange(len(lines)))
            content = b"\n".join(lines)
        else:
            content = _other_value(random, content, token)
    return content[:200_000]


def _other_number(random: Random, content: bytes, token: bytes) -> bytes:
    """One number of the text is another."""
    places = [n for n in range(len(content)) if content[n : n + 1].isdigit()]
    if not places:
        return token
    begin = end = random.choice(places)
    while end < len(content) and content[end : end + 1].isdigit():
        end += 1
    return content[:begin] + token + content[end:]


def _other_value(random: Random, content: bytes, token: bytes) -> bytes:
    """What stands behind a colon or an equals sign, up to the end of the line, is something else."""
    places = [n for n in range(len(content)) if content[n : n + 1] in (b":", b"=", b",")]
    if not places:
        return content + token
    begin = random.choice(places) + 1
    end = content.find(b"\n", begin)
    return content[:begin] + token + content[end if end >= 0 else len(content) :]


def tried(reader: Reader, content: bytes) -> Finding | None:
    """What is wrong with how an input is taken; None: nothing.

    Slow is what is slow twice: the first input of a reader also loads the modules that read it.
    """
    found = _tried(reader, content)
    return _tried(reader, content) if found is not None and found.slow else found


def _tried(reader: Reader, content: bytes) -> Finding | None:
    begun = time.process_time()
    try:
        plan = reader.read(content)
        if plan is not None and file.loads_project(file.dumps(plan)) != Project.of(plan):
            return Finding(reader.name, "the plan is another when it is read back", content)
    except UserError as error:
        if len(error.line) > LONGEST_LINE:
            return Finding(reader.name, f"an error of {len(error.line)} letters: {error.line[:80]}", content)
        try:
            error.line.encode("utf-8")
        except UnicodeEncodeError:
            return Finding(reader.name, f"an error that cannot be printed: {error.line[:80]!r}", content)
    except Exception as error:  # noqa: BLE001 — whatever else comes is what is looked for
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "/app/ndbplan/" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        return Finding(reader.name, f"{type(error).__name__} at {place}: {str(error)[:80]}", content)
    spent = time.process_time() - begun
    if spent > LONGEST_S:
        return Finding(reader.name, f"{spent:.1f} s for {len(content)} bytes", content, slow=True)
    return None


_COUNTED = [0]


def tried_inputs() -> int:
    """How many inputs the last attack has tried."""
    return _COUNTED[0]


def attack(inputs: int, seed: int, seconds: float = 1e9, only: str = "") -> Iterator[Finding]:
    """Findings of so many inputs, spread over the readers by their turns."""
    random = Random(seed)
    known = [reader for reader in readers() if only in reader.name for _ in range(reader.turns)]
    random.shuffle(known)
    until = time.monotonic() + seconds
    for number in range(inputs):
        if time.monotonic() > until:
            return
        reader = known[number % len(known)]
        _COUNTED[0] = number + 1
        found = tried(reader, mutated(random, reader.seeds))
        if found is not None:
            yield found


@cache
def readers() -> tuple[Reader, ...]:
    """Every way in."""
    starter, disk_data = sample_plan("starter"), sample_plan("disk-data")
    return (
        Reader(
            "plan",
            (_plan(starter), _plan(disk_data), _plan(_variants(starter))),
            lambda c: file.loads_project(c.decode("utf-8", "replace")),
        ),
        Reader("plan file", (_plan(starter), _plan(_variants(starter))), _plan_file),
        Reader("newer plan file", (_newer(starter), _newer(_variants(starter))), _plan_file),
        Reader("journal", (_journal(starter), _journal(_variants(starter))), _read_journal),
        Reader("clipboard", _copied(starter), lambda c: _pasted(starter, c)),
        Reader("preferences", (b'{"recent": ["/a"], "theme": "dark", "window": "AAAA"}',), _preferences),
        Reader("configuration", _configurations(), lambda c: _imported(c, "config.ini", None), 8),
        Reader(
            "options of mysqld", _options(starter), lambda c: _imported(c, _options_name(starter), starter)
        ),
        Reader("own hardware", (_hardware(starter),), _own_hardware),
        Reader("SQL", _sql(), lambda c: _imported(c, "schema.sql", starter), 16),
        Reader("statistics", _statistics(), lambda c: _imported(c, "statistics.txt", starter), 16),
        Reader("measurements", _measurements(), lambda c: _imported(c, "measured.txt", starter)),
        Reader("measured series", _series(), _read_series),
        Reader("demo", _authored("demos"), lambda c: _parsed(DEMOS, c), 8),
        Reader("lesson", _authored("lessons"), lambda c: _parsed(LESSONS, c), 8),
        Reader("load schedule", _schedules(), lambda c: _scheduled(starter, c)),
        Reader("set", _assignments(), lambda c: _assigned(starter, c)),
        Reader("add", _additions(), lambda c: _added(starter, c)),
        Reader(
            "remove",
            (b"hosts[host-a1]", b"tables[shop.orders]", b"workloads[*]"),
            lambda c: _removed(starter, c),
        ),
        Reader("quantities", (b"64 GB", b"10 Gbit/s", b"1 h 30 min", b"3 000k", b"1e3 MiB"), _quantities),
        Reader(
            "parts that fail",
            (b"host:host-a1", b"node:1", b"link:host-a1/host-b1"),
            lambda c: _parts(starter, c),
        ),
        Reader("events", _events(), lambda c: _event(starter, c)),
        Reader("parameters", _parameters(), lambda c: _with_parameter(starter, c), 3),
    )


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _plan(what: Plan | Project) -> bytes:
    return file.dumps(what).encode()


def _newer(what: Plan | Project) -> bytes:
    known = f'"format_version": {FORMAT_VERSION},'
    return file.dumps(what).replace(known, '"format_version": 99, "moods": ["x"],', 1).encode()


def _variants(plan: Plan) -> Project:
    """Three variants: one with changed, one with fewer parts."""
    first, disk = plan.hosts[0], plan.hosts[1].disks[0]
    more = edits.update(edits.update(plan, first.id, cores=48), disk.id, sequential_write_bytes_per_s=1e9)
    fewer = edits.remove(more, [first.id, plan.tables[0].id])
    project = added(Project.of(plan), "More cores", 0, more, "two racks")
    return added(project, "Fewer (hosts)", 0, fewer)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="ndbplan-attack-"))


def _plan_file(content: bytes) -> Project:
    path = _folder() / "a.ndbplan"
    path.write_bytes(content)
    return file.open_file(path).project


def _journal(what: Plan | Project) -> bytes:
    log = journal.JournalFile.begin(_folder() / "j", journal.Heading("x", None), what)
    project = Project.of(what)
    log.append(project.with_plan(0, project.main.replace(name="other")))
    log.append(added(project, "One more", len(project.variants) - 1))
    content = log.path.read_bytes()
    log.remove()
    return content


def _read_journal(content: bytes) -> Project | None:
    path = _folder() / "a.journal"
    path.write_bytes(_with_sums(content))
    left = journal.read(path)
    return None if left is None else left.project


def _with_sums(content: bytes) -> bytes:
    """Every second journal has checksums that fit: what another program wrote is looked at as well."""
    if len(content) % 2:
        return content
    lines = [line.partition(b" ")[2] for line in content.split(b"\n")[:-1]]
    return b"".join(b"%08x %s\n" % (crc32(line), line) for line in lines)


def _copied(plan: Plan) -> tuple[bytes, ...]:
    from ndbplan.edits import clipboard

    everything = clipboard.copy(plan, list(plan.by_id))
    return everything.encode(), clipboard.copy(plan, [plan.hosts[0].id]).encode()


def _pasted(plan: Plan, content: bytes) -> Plan:
    from ndbplan.edits import clipboard

    return clipboard.paste(plan, _text(content), onto_host=plan.hosts[0].id)[0]


def _preferences(content: bytes) -> None:
    from ndbplan.desktop.document import preferences as known

    path = _folder() / "preferences.json"
    path.write_bytes(content)
    preferences = known.Preferences(path)
    for one in vars(known).values():
        if isinstance(one, known.Preference):
            assert type(preferences.get(one)) is type(one.default)
    preferences.recent  # noqa: B018 — asked for what it does


def _imported(content: bytes, name: str, base: Plan | None) -> Plan:
    from ndbplan.importing.files import import_files

    return import_files({name: content}, base).plan


def _configurations() -> tuple[bytes, ...]:
    from ndbplan.exporting.config_ini import render_config_ini

    return tuple(
        render_config_ini(sample_plan(n)).encode() for n in ("starter", "disk-data", "terabyte-load-8.4")
    )


def _options(plan: Plan) -> tuple[bytes, ...]:
    from ndbplan.exporting.my_cnf import render_my_cnf

    own = b"[mysqld]\nndb-batch-size=64K\nlog-bin\nskip_name_resolve=ON\n!include /x\n[client]\nport=1\n"
    return (*(text.encode() for text in render_my_cnf(plan).values()), own)


def _options_name(plan: Plan) -> str:
    return f"{plan.host(plan.sql_nodes[0].host_id).hostname}.my.cnf"


def _hardware(plan: Plan) -> bytes:
    from ndbplan.edits import own_hardware
    from ndbplan.plan.hardware import RaidLevel

    path, host = _folder() / "seed.json", plan.hosts[0]
    disk = host.disks[0].model_copy(update={"raid": RaidLevel.STRIPED_MIRRORS, "devices": 4})
    own_hardware._write([own_hardware.Own("host", "a", host), own_hardware.Own("disk", "b", disk)], path)
    return path.read_bytes()


def _own_hardware(content: bytes) -> None:
    """What is read can be written, and read again."""
    from ndbplan.edits import own_hardware

    path, again = _folder() / "hardware.json", _folder() / "again.json"
    path.write_bytes(content)
    found = own_hardware.read(path)
    own_hardware._write(found, again)
    assert own_hardware.read(again) == found


def _sql() -> tuple[bytes, ...]:
    return (
        b"CREATE TABLE `a` (`id` int NOT NULL AUTO_INCREMENT, v varchar(200) CHARACTER SET utf8mb4 NULL,\n"
        b" t timestamp(3) NULL, e enum('a','b''c') DEFAULT 'a', d decimal(20,4),\n"
        b" b blob COMMENT 'NDB_COLUMN=MAX_BLOB_PART_SIZE',\n"
        b" PRIMARY KEY (`id`) USING HASH, UNIQUE KEY u (v(20)), KEY k (t,d)) ENGINE=NDB MAX_ROWS=1000\n"
        b" COMMENT='NDB_TABLE=PARTITION_BALANCE=FOR_RP_BY_NODE'\n"
        b" /*!50100 PARTITION BY KEY (id) PARTITIONS 4 */;\n",
        b"USE shop;\nCREATE LOGFILE GROUP lg ADD UNDOFILE 'u.log' INITIAL_SIZE 128M ENGINE NDBCLUSTER;\n"
        b"CREATE TABLESPACE ts ADD DATAFILE 'd.dat' USE LOGFILE GROUP lg INITIAL_SIZE 1G ENGINE NDB;\n"
        b"CREATE TABLE x (a bigint unsigned, b char(10) STORAGE DISK, c json, PRIMARY KEY(a),\n"
        b" CONSTRAINT f FOREIGN KEY (a) REFERENCES y (id)) TABLESPACE ts STORAGE DISK ENGINE=ndb;\n"
        b"ALTER TABLE x ADD INDEX i (b);\nINSERT INTO x VALUES (1,'a;b',NULL);\nDROP TABLE IF EXISTS z;\n",
    )


def _statistics() -> tuple[bytes, ...]:
    return tuple(
        text.encode()
        for text in (
            test_statistics.BOXED, test_statistics.VERTICAL, test_console_output.ARTICLE_DESC,
            test_console_output.STATUS, test_console_output.USAGE,
        )
    )  # fmt: skip


def _measurements() -> tuple[bytes, ...]:
    return tuple(
        text.encode()
        for text in (
            test_measurements.IOSTAT, test_console_output.IDLE_FIRST, test_console_output.JSON,
            test_console_output.HUMAN,
            '{"fio version": "fio-3", "jobs": [{"jobname": "w",'
            ' "write": {"bw_bytes": 118000000, "iops": 900},'
            ' "job options": {"bs": "128k", "rw": "write"}}]}',
        )
    )  # fmt: skip


def _series() -> tuple[bytes, ...]:
    """Reports of iostat, a CSV, and a table of ndbinfo that was asked for twice."""
    ndbinfo = "node_id\tlog_type\tlog_id\tlog_part\ttotal\tused\n3\tREDO\t0\t1\t50331648\t10027008\n"
    texts = (test_measured_series.iostat(dated=True), "t_s,accepted_per_s\n0,1\n1,2\n", 2 * ndbinfo)
    return tuple(text.encode() for text in texts)


def _read_series(content: bytes) -> None:
    read_measured(_text(content))


def _authored(folder: str) -> tuple[bytes, ...]:
    """Files that people write as YAML: the product's own."""
    return tuple(path.read_bytes() for path in sorted(resource_path(folder).glob("*.yaml"))[:3])


def _parsed(kind: Kind[Any], content: bytes) -> None:
    kind.parse(content, "mine.yaml")


def _schedules() -> tuple[bytes, ...]:
    return b"time,rate\n0,100\n60,2500.5\n1:30:00,0\n", b"00:00\t5\n01:00\t10\n", b"2026-01-01T00:00:00;3\n"


def _scheduled(plan: Plan, content: bytes) -> Plan:
    from ndbplan.importing.load_schedule import with_schedule

    return with_schedule(plan, plan.workloads[0].id, _text(content))


def _assignments() -> tuple[bytes, ...]:
    return (
        b"hosts[host-a1].memory=64 GB", b"hosts[*].disks[*].write=118 MB/s",
        b"parameters.data_node.DataMemory=10G", b"name=shop",
        b"tables[customer].columns[email].length=20", b"workloads[day].duration_s=5 min",
        b"ndb_version=8.0.34", b"processes[mgm145].node_id=200", b"backups_kept=3",
    )  # fmt: skip


def _assigned(plan: Plan, content: bytes) -> Plan:
    from ndbplan.edits.assign import assign

    return assign(plan, _text(content))[0]


def _additions() -> tuple[bytes, ...]:
    return (
        b"host\x1fh9\x1fcores=4\x1fmemory=8 GB", b"disk\x1fhost=host-a1\x1fnvme9",
        b"table\x1fshop.t9\x1frows=5",
        b"column\x1ftable=shop.orders\x1fc\x1ftype=int", b"data-node\x1fhost=host-a1", b"workload\x1fw",
        b"node-group\x1f2",
        b"waiver\x1fsize-of-redo\x1freason=y", b"calibration\x1flcp_device_share\x1fvalue=0.5",
    )  # fmt: skip


def _added(plan: Plan, content: bytes) -> Plan:
    from ndbplan.edits.additions import add

    kind, *texts = _text(content).split("\x1f")
    return add(plan, kind, texts).plan


def _removed(plan: Plan, content: bytes) -> Plan:
    from ndbplan.edits.removal import remove

    return remove(plan, [_text(content)]).plan


def _quantities(content: bytes) -> None:
    text, refused = _text(content), list[UserError]()
    every = (units.parse_bytes, units.parse_bytes_per_s, units.parse_duration_s, units.parse_count)
    for read in every:
        try:
            read(text)
        except UserError as error:
            refused.append(error)
    if len(refused) == len(every):
        raise max(refused, key=lambda error: len(error.line))


def _parts(plan: Plan, content: bytes) -> None:
    from ndbplan.configuration.failing_parts import parse_parts

    parse_parts(plan, _text(content))


def _events() -> tuple[bytes, ...]:
    return (
        b"node_failure at=90s object=1", b"disk_slow at=1min disk=host-a1-nvme0 factor=0.5 for=30s",
        b"parameter at=10s name=RedoBuffer value=64M", b"backup at=5min",
        b"network_cut at=1s object=host-a1", b"disk_full at=1min disk=host-a1-nvme0",
    )  # fmt: skip


def _event(plan: Plan, content: bytes) -> None:
    from ndbplan.cli.events import event_of

    event_of(plan, _text(content))


def _parameters() -> tuple[bytes, ...]:
    return (
        b"ThreadConfig=main={cpubind=0},ldm={count=4,cpubind=1-4},tc={count=2}", b"NoOfFragmentLogFiles=16",
        b"InitialTablespace=name=ts;extent_size=8M;d1.dat:64M",
        b"InitialLogFileGroup=undo_buffer_size=64M;u1.log:64M",
        b"DataMemory=80G", b"Numa=1", b"LockExecuteThreadToCPU=1-4,7", b"BackupDataDir=/b",
        b"MaxNoOfTables=20320",
        b"TimeBetweenLocalCheckpoints=20", b"LateAlloc=1", b"SchedulerSpinTimer=400", b"RealtimeScheduler=1",
    )  # fmt: skip


def _with_parameter(plan: Plan, content: bytes) -> Plan:
    """A parameter of all data nodes, looked at by every rule and taken into the configuration."""
    from ndbplan.base.kept import keeping
    from ndbplan.checks.run import find
    from ndbplan.edits.parameters import set_parameter
    from ndbplan.exporting.export import render_files

    name, _, value = _text(content).partition("=")
    after = set_parameter(plan, "data_node", name, value)
    with keeping():
        find(after)
        render_files(after, ["config"])
    return after


def main() -> int:
    """Try, and print each kind of finding once with an input that shows it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", default="", help="only readers whose names hold this")
    asked = parser.parse_args()
    kinds: dict[tuple[str, str], int] = {}
    begun = time.monotonic()
    for found in attack(asked.inputs, asked.seed, asked.seconds, asked.reader):
        key = (found.reader, found.what.partition(": ")[0])
        if key not in kinds:
            shown = (
                found.content
                if len(found.content) < 500
                else found.content[:200] + b" ... " + found.content[-200:]
            )
            print(
                json.dumps([*found[:2], shown.decode("utf-8", "backslashreplace")], ensure_ascii=True),
                flush=True,
            )
        kinds[key] = kinds.get(key, 0) + 1
    print(
        f"{sum(kinds.values())} findings ({len(kinds)} kinds) in {tried_inputs()} inputs, seed {asked.seed}:"
        f" {time.monotonic() - begun:.0f} s"
    )
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
