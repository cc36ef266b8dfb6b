"""Random lines to every console of a live cluster: none raises, hangs or lies, and no law is broken.

    python tests/attack/lines.py --lines 10000 --seed 7
    python tests/attack/lines.py --lines 2000 --seed 7 --only 'mysql>'

Lines are drawn from the words of each console, from whole commands with parts exchanged, and from noise. What
breaks is printed with its seed and the lines before it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ndbplan.base.kept import keeping
from ndbplan.edits.growth import add_node_group
from ndbplan.plan.samples import sample_plan
from ndbplan.train import world
from ndbplan.train.consoles import LESSON, LESSON_WORDS, MGM, WORLD, Consoles
from ndbplan.train.host.console import PROGRAMS
from ndbplan.train.lessons.files import own
from ndbplan.train.lessons.play import Play
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.console import WORDS
from ndbplan.train.object_ids import Thing
from ndbplan.train.prompts import BREAK, SQL, sql_prompt
from ndbplan.train.quantities import NAMES
from ndbplan.train.schema import held_rows, rows_of

VERSIONS = ("8.4.8", "7.4.10", "7.6", "7.0", "6.3")
LINES_OF_A_SESSION = 60
LONGEST_S = 60.0
"""A line that takes longer hangs, by the clock: even a day of a small cluster passes in less."""
HOURS = 0.5
_NOISE = (
    "'",
    '"',
    "`",
    ";",
    "\\G",
    "\0",
    "é",
    "\u2028",
    "-",
    "--",
    "-1",
    "0",
    "1",
    "3",
    "4",
    "99",
    "65536",
    "1e400",
    "9" * 25,
    "*",
    "(",
    ")",
    ",",
    ".",
    "$",
    ">",
    "!",
    "#",
    "%",
    "= ",
    "a=b",
    "x" * 300,
    "\t",
    "ALL",
    "all",
    "NULL",
    "/",
    "..",
)
_MGM = """\
SHOW
ALL STATUS
{n} STATUS
{n} START
{n} STOP
{n} STOP -a
{n} STOP -f
{n} RESTART
{n} RESTART -n -i -a
ALL REPORT MemoryUsage
ALL REPORT BackupStatus
{n} REPORT EventLog
{n} DUMP {c}
ALL DUMP 1000
START BACKUP
START BACKUP {n} NOWAIT
START BACKUP WAIT STARTED
START BACKUP SNAPSHOTSTART
ABORT BACKUP {n}
CREATE NODEGROUP {n},{n}
DROP NODEGROUP {n}
ENTER SINGLE USER MODE {n}
EXIT SINGLE USER MODE
CLUSTERLOG INFO
CLUSTERLOG ON ALL
{n} CLUSTERLOG BACKUP=15
CLUSTERLOG FILTER INFO
CLUSTERLOG TOGGLE ALERT
HELP
HELP {w}
CONNECT
CONNECT app1:1186
PROMPT x
SHUTDOWN
QUIT
""".splitlines()
_SQL = """\
BEGIN
BEGIN
COMMIT
ROLLBACK
QUIT
SET autocommit={n}
SET lock_wait_timeout={n}
SELECT * FROM test.{u} WHERE id={n} FOR UPDATE
SELECT * FROM test.{u} LOCK IN SHARE MODE
SELECT COUNT(*) FROM test.{t} WHERE id < {n} FOR SHARE
SELECT a.id FROM test.{u} a JOIN test.{u} b ON a.id = b.id + {n} FOR UPDATE
BEGIN; UPDATE test.{u} SET b = {n} WHERE id = {n}; DELETE FROM test.{u} WHERE id = {n}
SELECT * FROM ndbinfo.cluster_locks
SELECT * FROM ndbinfo.server_transactions
SHOW PROCESSLIST
SELECT * FROM ndbinfo.nodes
SELECT node_id, used/total*100 FROM ndbinfo.logspaces
SHOW TABLES
SELECT COUNT(*) FROM test.{t}
SHOW CREATE TABLE test.{t}
SHOW VARIABLES LIKE 'ndb%'
USE test
INSERT INTO test.{t} VALUES ({n}, NULL, NULL)
INSERT INTO test.{u} VALUES ({n}),({n})
UPDATE test.{t} SET id={n}
DELETE FROM test.{u}
DELETE FROM test.{t} WHERE id={n}
INSERT INTO test.{u} (id, b) VALUES ({n}, 'x{n}'), ({n}, NULL)
INSERT IGNORE INTO test.{u} SET id={n}
INSERT INTO test.{u} VALUES ({n}, 'a') ON DUPLICATE KEY UPDATE b = CONCAT(b, {n}), id = id + {n}
INSERT INTO test.{u} SELECT id, {n} FROM test.{u} WHERE id > {n} LIMIT {n}
REPLACE INTO test.{u} VALUES ({n}, {n})
UPDATE test.{u} SET b = NULL, id = id + {n} WHERE id BETWEEN {n} AND {n} ORDER BY id LIMIT {n}
UPDATE test.{t} SET id = {n} WHERE id = {n} OR id IN ({n}, {n})
DELETE FROM test.{u} WHERE b LIKE '%{n}' ORDER BY id DESC LIMIT {n}
SELECT * FROM test.{u} a JOIN test.{t} b ON a.id = b.id WHERE a.id < {n} ORDER BY 1 LIMIT {n}
SELECT MAX(id), COUNT(DISTINCT b), AVG(id) FROM test.{u} GROUP BY id % {n} HAVING COUNT(*) > {n}
SELECT * FROM test.{t} WHERE id = {n} FOR UPDATE
BEGIN
COMMIT
ROLLBACK
SAVEPOINT s
SET autocommit={n}
CREATE TABLE test.{u} (id INT PRIMARY KEY) ENGINE=NDB
CREATE TABLE test.{u} (id INT, b VARCHAR({n}), KEY (b)) ENGINE=NDB
ALTER TABLE test.{u} ADD COLUMN c{n} INT
ALTER TABLE test.{u} DROP COLUMN b
ALTER TABLE test.{u} ADD INDEX (id)
DROP TABLE test.{u}
DROP TABLE IF EXISTS test.{t}
TRUNCATE TABLE test.{u}
RENAME TABLE test.{u} TO test.r{n}
ALTER TABLE test.{t} REORGANIZE PARTITION
OPTIMIZE TABLE test.{u}
CREATE DATABASE d{n}
DROP DATABASE d{n}
CREATE LOGFILE GROUP lg ADD UNDOFILE 'u{n}' INITIAL_SIZE 4M ENGINE NDB
CREATE TABLESPACE ts ADD DATAFILE 'd{n}' USE LOGFILE GROUP lg INITIAL_SIZE 4M ENGINE NDB
ALTER TABLESPACE ts ADD DATAFILE 'd{n}' INITIAL_SIZE 4M
ALTER TABLESPACE ts DROP DATAFILE 'd{n}'
CREATE TABLE test.{u} (id INT PRIMARY KEY, c CHAR(9)) TABLESPACE ts STORAGE DISK ENGINE=NDB
DROP TABLESPACE ts
DROP LOGFILE GROUP lg ENGINE NDB
SHOW WARNINGS
SHOW ENGINE NDB STATUS
SELECT node_id, COUNT(*) FROM ndbinfo.logspaces GROUP BY node_id WITH ROLLUP
DESC test.{u}
SELECT * FROM information_schema.partitions
SET x=1
EXPLAIN SELECT 1
ALTER TABLE test.{t} ADD PARTITION PARTITIONS {n}
ALTER TABLE test.{u} TRUNCATE PARTITION p{n}
ALTER TABLE test.{t} ALGORITHM=INPLACE, REORGANIZE PARTITION p{n} INTO (PARTITION p{n})
ALTER TABLE test.{t} ANALYZE PARTITION p{n}, ALL
ALTER TABLE test.{t} COALESCE PARTITION {n}
CREATE TABLE test.{u} ENGINE=NDB SELECT id, b AS c{n} FROM test.{u} WHERE id < {n}
CREATE TABLE test.{u} (a INT PRIMARY KEY, CHECK (a > {n})) ENGINE=NDB MAX_ROWS={n}
CREATE TABLE test.{u} (a INT PRIMARY KEY) ENGINE=NDB COMMENT='NDB_TABLE=READ_BACKUP={n} words'
CREATE TABLE test.{u} (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES test.{t} (id)) ENGINE=NDB
CREATE TABLE test.i{n} (a INT PRIMARY KEY, b TEXT) ENGINE=InnoDB
SHOW CREATE VIEW ndbinfo.logspaces
SHOW CREATE TABLE ndbinfo.dictionary_tables
SELECT STR_TO_DATE('{n}', '%Y %m %r'), 'a{n}' REGEXP '^[a{n}]+$', {n}/'2', TRUE, ROUND(1e{n}, {n})
SELECT type, SUM(hash_index_alloc_bytes) FROM ndbinfo.memory_per_fragment GROUP BY 1
SELECT @a:={n}
SET @a={n}, ndb_join_pushdown={n}
PREPARE s FROM 'SELECT ?'
EXECUTE s USING @a
SHOW PROCESSLIST
SHOW STATUS LIKE 'Ndb%'
SHOW TABLE STATUS FROM test LIKE '{u}'
SHOW INDEX FROM test.{t}
DROP DATABASE test
""".splitlines()
_HOST = """\
iostat -kx
df -h
free -m
top -H
ls
ls /c0d1
tail -f ndb_1_cluster.log
tail -n {n} ndb_3_out.log
q
^C
ndb_desc -d test {t} -p -n
ndb_config --query=nodeid,host,{w}
ndb_perror {c}
perror --ndb {c}
ndb_restore -n {n} -b {n} -m
ndb_restore -n {n} -b {n} -r
ndbmtd
ndbmtd --initial --ndb-nodeid={n}
ndb_mgmd -f config.ini
ndb_mgmd --reload
""".splitlines()
_WORLD = """\
wait {n}s
until {q} {n} within {n}s
rewind {n}s
rewind to {n}s
clock
kill node:{n}
hang node:{n}
wake node:{n}
start node:{n}
fail host:{h}
restore host:{h}
fail disk:{h}/c0d1
fail device:{h}/c0d1
cut host:{h}
cut link:{h}/{h}
heal
slow disk:{h}/redo {n}%
slow disk:{h}/redo 5MB/s for {n}s
fill disk:{h}/redo
fill disk:{h}/c0d1 for {n}s
free disk:{h}/redo
restore disk:{h}/redo
load x{n}
spread
set RedoBuffer={n}M
edit DataMemory={n}G
move lcp to c0d0
help
""".splitlines()
OTHER = sql_prompt(2)
WHOLE = {MGM: _MGM, SQL: _SQL, OTHER: _SQL, "data1$": _HOST, "app1$": _HOST, WORLD: _WORLD}
SAID = {
    MGM: ("Invalid", "ERROR", "Unable"),
    "data1$": ("not on this machine", "syntax error", "No route"),
    WORLD: ("nothing that can be done",),
}
"""What an unknown word is told at a console, in one of these ways."""


def filled(text: str, pick: Random) -> str:
    """A command with something in each of its places."""
    values: dict[str, Callable[[], str]] = {
        "n": lambda: str(pick.choice((0, 1, 2, 3, 4, 5, 6, 9, 30, 49, 50, 99, 65536, -1))),
        "c": lambda: str(
            pick.choice((0, 410, 266, 1000, 1221, 2303, 2304, 2305, 2398, 2399, 2810, 7099, 99999))
        ),
        "t": lambda: pick.choice(("blobs_5k", "blobs_1k", "nosuch")),
        "u": lambda: pick.choice(("u", "v", "nosuch")),
        "h": lambda: pick.choice(("data1", "data2", "data3", "data4", "app1", "nowhere")),
        "q": lambda: pick.choice((*NAMES, "node:3", "errors:410", "nosuch")),
        "w": lambda: pick.choice((*WORDS, "DataMemory", "nosuch")),
    }
    for name, draw in values.items():
        while f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", draw(), 1)
    return text


def lines(prompt: str, pick: Random) -> Iterator[str]:
    """Lines for one console, without end."""
    known = {
        MGM: WORDS,
        WORLD: world.VERBS,
        SQL: ("SELECT", "SHOW", "ALTER", "TABLE", "FROM", "ndbinfo.nodes"),
        OTHER: ("SELECT", "FOR", "UPDATE", "SHARE", "BEGIN", "test.u"),
        LESSON: LESSON_WORDS,
    }
    words = (*known.get(prompt, tuple(PROGRAMS)), *_NOISE)
    while True:
        text = filled(pick.choice(WHOLE[prompt]), pick) if prompt in WHOLE else pick.choice(words)
        kind = pick.random()
        if kind < 0.35:
            text = " ".join(pick.choice(words) for _ in range(pick.randrange(6)))
        elif kind < 0.6:
            pieces = text.split(" ")
            at = pick.randrange(len(pieces))
            pieces[at : at + pick.randrange(2)] = [pick.choice(words)] * pick.randrange(1, 3)
            text = " ".join(pieces)
        elif kind < 0.63:
            text = BREAK
        elif kind < 0.65:
            text = text[: pick.randrange(len(text) + 1)]
        yield text


def broken_laws(cluster: LiveCluster) -> Iterator[str]:
    """What cannot be, whatever was typed."""
    sim, state = cluster.session.simulation, cluster.state
    if len(set(state.ids.values())) < len(state.ids) or any(
        Thing("table", table.id) not in state.ids for table in state.plan.tables
    ):
        yield "two things have one number, or a table has none"
    for n, node in enumerate(sim.state.node_state):
        for name in ("rows_bytes", "memory_bytes", "space_bytes", "index_bytes", "backup_left_bytes"):
            value = float(getattr(node, name))
            if not math.isfinite(value) or value < 0:
                yield f"{name} of node {n} is {value}"
    if not math.isfinite(float(sim.state.parts.sum())):
        yield "log that is no number"
    held = [(lock, alone) for one in state.transactions.values() for lock, alone in one.locks.items()]
    for lock, count in Counter(lock for lock, _ in held).items():
        if count > 1 and (lock, True) in held:
            yield f"{count} sessions have locked {lock}"
    for table in cluster.plan.tables:
        known = held_rows(sim, table)
        if not known.contents.is_vague and known.count != rows_of(sim, table):
            yield f"{table.name} has {rows_of(sim, table)} rows, of which {known.count} are found"
    ids = {process.node_id for process in cluster.plan.data_nodes}
    if state.nodes.keys() != ids:
        yield f"data nodes {sorted(state.nodes)} of {sorted(ids)}"
    if not 0 <= sim.at_s <= sim.scenario.duration_s + 1 and not cluster.is_over:
        yield f"time is {sim.at_s}"


class Attack:
    """Sessions, one after the other, and what was found in them."""

    def __init__(self, seed: int, only: str = "") -> None:
        self.pick, self.only = Random(seed), only
        self.found: list[str] = []
        self.slowest: list[tuple[float, str]] = []
        self.count: Counter[str] = Counter()
        self._begun: dict[str, LiveCluster] = {}
        self._play: Play | None = None

    def _cluster(self) -> LiveCluster:
        version = self.pick.choice(VERSIONS)
        if version not in self._begun:
            plan = add_node_group(sample_plan("redo-overload")).replace(ndb_version=version)
            self._begun[version] = LiveCluster.begin(plan, hours=HOURS)
            self._begun[version].advance(5.0)
        return self._begun[version].branch()

    def _lesson(self) -> Play:
        if self._play is None:
            source = own()[0]
            self._play = Play(source.value, source.value.starts[0], "Ann")
        return self._play.branch()

    def session(self, count: int) -> None:
        """So many lines of one session."""
        pick, prompts = self.pick, [MGM, SQL, OTHER, "data1$", "app1$", WORLD]
        of_lesson = self.only == LESSON or (not self.only and pick.random() < 0.1)
        played: Consoles | Play = self._lesson() if of_lesson else Consoles(self._cluster())
        played.cluster.apart = pick.random() < 0.5
        prompts += [LESSON] * 4 if of_lesson else []
        drawn = {prompt: lines(prompt, pick) for prompt in prompts}
        typed: list[str] = []
        for _ in range(count):
            prompt = self.only or pick.choice(prompts)
            line = f"{prompt} {next(drawn[prompt])}"
            typed.append(line)
            self.count[prompt] += 1
            if not self._ask(played, line, typed):
                return
        for law in broken_laws(played.cluster):
            self._note(law, typed)

    def _ask(self, played: Consoles | Play, line: str, typed: list[str]) -> bool:
        begin_s = time.monotonic()
        try:
            answer = played.answer(line)
        except Exception:  # noqa: BLE001 — whatever it is: it is what is looked for
            self._note(traceback.format_exc(limit=-4), typed)
            return False
        took_s = time.monotonic() - begin_s
        self.slowest = sorted([*self.slowest, (took_s, line[:100])])[-5:]
        if took_s > LONGEST_S:
            self._note(f"{took_s:.0f} s for one line", typed)
        if not isinstance(answer, str) or "Traceback" in answer:
            self._note(f"answered {answer!r}"[:300], typed)
        return True

    def unknown(self) -> None:
        """A word that no console knows is told so by each."""
        played = Consoles(self._cluster())
        for prompt, said in SAID.items():
            word = "".join(self.pick.choice("bcdfghjkz") for _ in range(7))
            answer = played.answer(f"{prompt} {word} 1")
            if not any(one in answer for one in said):
                self._note(f"{prompt} {word} is answered {answer!r}", [])

    def _note(self, what: str, typed: list[str]) -> None:
        self.found.append(what + "\n    " + "\n    ".join(repr(line) for line in typed[-6:]))


def attack(count: int, seed: int, only: str = "", most_s: float = math.inf) -> Attack:
    """Type so many lines, or fewer: until the time is over."""
    made, end_s = Attack(seed, only), time.monotonic() + most_s
    # As every command does: what is worked out of a plan is kept.
    with keeping():
        while made.count.total() < count and time.monotonic() < end_s:
            made.session(min(LINES_OF_A_SESSION, count - made.count.total()))
            made.unknown()
    return made


def main() -> int:
    """Run it; 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="one console, by its prompt")
    parser.add_argument("--most", type=float, default=math.inf, help="seconds")
    asked = parser.parse_args()
    made = attack(asked.lines, asked.seed, asked.only, asked.most)
    for one in made.found:
        print(one)
    shown = ", ".join(f"{prompt} {count}" for prompt, count in made.count.most_common())
    print(f"seed {asked.seed}: {made.count.total()} lines ({shown}), {len(made.found)} found")
    print("slowest:", "; ".join(f"{took:.1f} s {line!r}" for took, line in reversed(made.slowest)))
    return int(bool(made.found))


if __name__ == "__main__":
    raise SystemExit(main())
