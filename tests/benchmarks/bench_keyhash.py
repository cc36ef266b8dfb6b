"""Speed of the key hash and of reading keys, beside hashlib and a plain scalar loop; and of 500 tables."""

from __future__ import annotations

import hashlib
import io
import resource
import time
from collections.abc import Callable
from typing import Any

from figures import Figure

KEYS = 4_000_000
ROWS = 10_000_000


def best_s(work: Callable[[], object], rounds: int = 3) -> float:
    """Processor seconds of the quickest of some runs, the first one (compiling) not counted."""
    work()
    found = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def _scalar() -> Callable[[Any, Any], None]:
    """The same hash of one-word keys as a plain loop over keys and steps, as a C programmer would start."""
    import numpy as np
    from numba import njit, uint32

    from ndbplan.ndb.keys.hash import _CONSTANTS, _SHIFTS

    constants = np.array(_CONSTANTS, dtype=np.uint32)
    shifts = np.array(_SHIFTS, dtype=np.uint32)
    start = np.array([0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476], dtype=np.uint32)

    @njit
    def loop(words: Any, out: Any) -> None:
        block = np.zeros(16, dtype=np.uint32)
        block[1], block[14] = uint32(0x80000000), uint32(4)
        for key in range(len(words)):
            block[0] = words[key]
            a, b, c, d = start[0], start[1], start[2], start[3]
            for i in range(64):
                quarter = i // 16
                if quarter == 0:
                    f, at = uint32(d ^ (b & (c ^ d))), i
                elif quarter == 1:
                    f, at = uint32(c ^ (d & (b ^ c))), (5 * i + 1) % 16
                elif quarter == 2:
                    f, at = uint32(b ^ c ^ d), (3 * i + 5) % 16
                else:
                    f, at = uint32(c ^ (b | ~d)), 7 * i % 16
                turned = uint32(a + f + constants[i] + block[at])
                shift = shifts[quarter, i % 4]
                turned = uint32(uint32(turned << shift) | uint32(turned >> uint32(32 - shift)))
                a, d, c, b = d, c, b, uint32(b + turned)
            out[key] = uint32(b + start[1])

    return loop


def _key_figures() -> list[Figure]:
    import numpy as np

    from ndbplan.ndb import collations
    from ndbplan.ndb.keys.many.hash import hash_words
    from ndbplan.ndb.keys.many.strings import encode_table_strings

    words = np.arange(KEYS, dtype=np.uint32).reshape(-1, 1)
    hashes = np.empty((KEYS, 2), dtype=np.uint32)
    vector = KEYS / best_s(lambda: hash_words(words, hashes)) / 1e6
    scalar_loop, out = _scalar(), np.empty(KEYS, dtype=np.uint32)
    scalar = KEYS / best_s(lambda: scalar_loop(words[:, 0], out)) / 1e6
    assert (out == hashes[:, 1]).all()

    few = [i.to_bytes(4, "little") for i in range(200_000)]
    library = len(few) / best_s(lambda: [hashlib.md5(k).digest() for k in few]) / 1e6

    batch = 65536
    text = np.random.default_rng(1).integers(97, 122, batch * 16, dtype=np.uint8)
    starts, lengths = np.arange(batch, dtype=np.int64) * 16, np.full(batch, 16, dtype=np.int64)
    quoted, faults = np.zeros(batch, dtype=np.uint8), np.zeros(batch, dtype=np.int32)
    rows, answers = np.empty((batch, 4), dtype=np.uint32), np.empty((batch, 2), dtype=np.uint32)
    nothing = np.empty(0, dtype=np.int16)
    weights = np.ascontiguousarray(collations.byte_weights("latin1_swedish_ci"))

    def strings() -> None:
        for _ in range(20):
            cursor = np.zeros(batch, dtype=np.int64)
            encode_table_strings(
                text, starts, lengths, quoted, batch, rows, cursor, faults, 0, 16, nothing, weights, 32
            )
            hash_words(rows, answers)

    string_rate = 20 * batch / best_s(strings) / 1e6
    million = "million keys/s"
    return [
        Figure(
            "key hash, 4-byte keys", vector, million, baseline="hashlib.md5 in a loop",
            baseline_value=library, least_times=20,
        ),
        Figure(
            "key hash, 4-byte keys", vector, million, baseline="plain scalar compiled loop",
            baseline_value=scalar, least_times=6,
        ),
        Figure(
            "key hash, VARCHAR(16) latin1_swedish_ci, weights included",
            string_rate,
            million,
            baseline="hashlib.md5 in a loop",
            baseline_value=library,
            least_times=10,
        ),
    ]  # fmt: skip


def _csv_figure() -> Figure:
    import numpy as np

    from ndbplan.importing.partition_keys import partition_job
    from ndbplan.ndb.version import NdbVersion

    numbers = np.random.default_rng(3).integers(0, 2**31, ROWS).tolist()
    content = b"id,name\n" + "\n".join(f"{n},user{n % 99999999:08d}" for n in numbers).encode()
    ddl = "CREATE TABLE t (id INT, name VARCHAR(16) CHARACTER SET latin1, PRIMARY KEY (id, name))"
    job = partition_job(ddl, 8, NdbVersion.parse("8.4"))
    sink = io.BytesIO()

    def run() -> None:
        sink.seek(0)
        job.run(io.BytesIO(content), sink.write)

    lines = best_s(lambda: sum(map(len, io.BytesIO(content))))
    return Figure(
        "10 million composite keys from CSV, partitions written", best_s(run), "s",
        baseline="passing over its lines in Python", baseline_value=lines, most_times=4.5,
    )  # fmt: skip


def _estimate_figures() -> list[Figure]:
    from ndbplan.edits import parts as edits
    from ndbplan.estimate.stored import memory
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.samples import sample_plan
    from ndbplan.plan.tables import Table

    sample = sample_plan("telecom-144")

    def table(number: int, add: int) -> Table:
        like = sample.tables[number % len(sample.tables)]
        own = tuple(column.model_copy() for column in like.columns)
        name = f"t{number}"
        return like.model_copy(
            update={"id": name, "name": name, "rows": like.rows + add + number, "columns": own}
        )

    def plan_of(add: int, first: int) -> Plan:
        order = (*range(first, 500), *range(first))
        return sample.replace(workloads=(), tables=tuple(table(i, add) for i in order))

    def seconds(plans: list[Plan]) -> list[float]:
        found = []
        for plan in plans:
            began = time.process_time()
            memory(plan)
            found.append(time.process_time() - began)
        return found

    plans = [plan_of(add=1000 * n, first=0) for n in range(5)]
    cold = seconds(plans)
    # Where fragments go depends on the tables before: in another order each has to be placed again.
    placed = seconds([plan_of(add=1000 * n, first=n) for n in range(1, 6)])
    host = sample.hosts[3]
    edited = [edits.update(plans[-1], host.id, cores=host.cores + n + 1) for n in range(5)]
    warm = seconds(edited)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    written_s = best_s(lambda: Plan.model_validate_json(plans[-1].model_dump_json()))

    def beside(name: str, times_s: list[float], most_times: float) -> Figure:
        return Figure(
            f"memory of 500 tables on 144 nodes, {name}", min(times_s) * 1000, "ms",
            baseline="the plan written and read as JSON", baseline_value=written_s * 1000,
            most_times=most_times,
        )  # fmt: skip

    return [
        beside("after an edit", warm, 0.5),
        beside("every table new", cold, 16),
        beside("and placed anew", placed, 16),
        Figure("memory of the process", used, "MiB", 300),
    ]


def main() -> list[Figure]:
    """Estimates first, so that the process's memory is that of estimating."""
    from ndbplan.base.garbage import seldom_collecting
    from ndbplan.base.kept import keeping

    # As every command and every worker does.
    with seldom_collecting(), keeping():
        estimated = _estimate_figures()
    return [*estimated, *_key_figures(), _csv_figure()]
