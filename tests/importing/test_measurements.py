from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.importing.measurements import MeasurementError, _block_bytes, _number, read_measurements

IOSTAT = """Linux 5.10 (db1)  \t05/01/2026

Device:  rrqm/s   wrqm/s   r/s     w/s   rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
c0d0       0.00     0.00  0.00    2.00    0.00    80.00    80.00     0.01    0.25   0.20   1.10
c0d1       0.00 27796.00  0.00 1454.00    0.00 115196.00  158.45    12.03    8.25   0.66  95.30

Device:  rrqm/s   wrqm/s   r/s     w/s   rkB/s    wkB/s avgrq-sz avgqu-sz   await  svctm  %util
c0d1       0.00   100.00  0.00   54.00    0.00 5196.00    158.45     0.10    1.25   0.66   4.30
"""


def fio(rw: str, bs: str, **sides: dict[str, Any]) -> dict[str, Any]:
    return {"jobname": f"{rw}-{bs}", "job options": {"rw": rw, "bs": bs}, **sides}


def values(text: str) -> dict[str, float]:
    return read_measurements(text)[0].values


def test_iostat_gives_what_the_device_did_at_its_busiest() -> None:
    found = {m.name: m.values for m in read_measurements(IOSTAT)}
    assert found["c0d1"]["write_bytes_per_s"] == 115196 * 1024
    assert found["c0d1"]["sequential_write_bytes_per_s"] == pytest.approx(115196 * 1024 / 0.953)
    assert found["c0d1"]["write_wait_s"] == pytest.approx(0.00825)
    assert "sequential_write_bytes_per_s" not in found["c0d0"]


@pytest.mark.parametrize(("column", "factor"), [("wkB/s", 1024), ("wMB/s", 1024**2), ("wsec/s", 512)])
def test_iostat_units_are_read_from_the_heading(column: str, factor: int) -> None:
    text = f"Device r/s w/s {column} %util\nsda 1,0 2,5 50,5 90,00\n"
    assert values(text)["write_bytes_per_s"] == pytest.approx(50.5 * factor)
    assert values(text)["utilisation"] == pytest.approx(0.9)


def test_fio_jobs_are_told_apart_by_pattern_and_block() -> None:
    jobs = [
        fio("write", "1M", write={"bw_bytes": 2e9, "iops": 2000}, read={"bw_bytes": 0, "iops": 0}),
        fio("randread", "32k", read={"bw_bytes": 3e8, "iops": 9000.5}),
        fio("read", "256k", read={"bw": 1000, "iops": 4}),
    ]
    found = {
        m.name: m.values for m in read_measurements(json.dumps({"fio version": "fio-3.33", "jobs": jobs}))
    }
    assert found["write-1M"] == {"sequential_write_bytes_per_s": 2e9}
    assert found["randread-32k"] == {"random_read_iops": 9000.5}
    assert found["read-256k"] == {"sequential_read_bytes_per_s": 1000 * 1024}


def test_fio_sync_writes_give_the_latency_of_one() -> None:
    job = fio("write", "32k", write={"bw_bytes": 6e6, "iops": 190, "lat_ns": {"mean": 1.0e6}})
    job["job options"]["fsync"] = "1"
    job["sync"] = {"lat_ns": {"mean": 4.05e6}}
    text = "fio: a note before the document\n" + json.dumps({"jobs": [job]})
    assert values(text)["sync_write_latency_s"] == pytest.approx(5.05e-3)


def test_fio_threads_of_one_job_add_up_and_global_options_count() -> None:
    job = {"jobname": "rr", "job options": {}, "read": {"bw_bytes": 1e8, "iops": 1000}}
    document = {"global options": {"rw": "randread", "bs": "4k"}, "jobs": [job, job, job]}
    assert values(json.dumps(document)) == {"random_read_iops": 3000}


ROW = {
    "node_id": "2", "node_restart_status": "Restart completed", "node_restart_status_int": "19",
    "secs_to_complete_node_failure": "0", "secs_to_allocate_node_id": "2", "secs_to_copy_meta_data": "3",
    "secs_restore_fragments": "1660", "secs_undo_disk_data": "0", "secs_exec_redo_log": "0",
    "secs_index_rebuild": "733", "secs_to_synchronize_starting_node": "17",
    "secs_wait_lcp_for_restart": "5", "secs_wait_subscription_handover": "5", "total_restart_secs": "2732",
}  # fmt: skip


def boxed(rows: list[dict[str, str]]) -> str:
    names = list(rows[0])
    line = "+" + "+".join("-" * 20 for _ in names) + "+"
    body = ["| " + " | ".join(f"{row[n]:>18}" for n in names) + " |" for row in rows]
    return "\n".join([line, "| " + " | ".join(names) + " |", line, *body, line, "1 row in set (0.00 sec)"])


def tabbed(rows: list[dict[str, str]]) -> str:
    return "\n".join(["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)])


def vertical(rows: list[dict[str, str]]) -> str:
    return "\n".join(
        f"*************************** {i}. row ***************************\n"
        + "\n".join(f"{name:>40}: {value}" for name, value in row.items())
        for i, row in enumerate(rows, 1)
    )


@pytest.mark.parametrize("printed", [boxed, tabbed, vertical])
def test_restart_info_is_read_however_the_client_prints_it(printed: Any) -> None:
    found = read_measurements(printed([ROW, {**ROW, "node_id": "3", "secs_restore_fragments": "1600"}]))
    assert [(m.kind, m.node_id) for m in found] == [("restart_info", 2), ("restart_info", 3)]
    assert found[0].values["restore_s"] == 1660
    assert found[0].values["index_s"] == 733
    assert found[0].values["early_s"] == 5
    assert found[1].values["restore_s"] == 1600


def test_disk_write_speeds_of_all_threads_of_a_node_add_up() -> None:
    rows = [
        {
            "node_id": "1",
            "thr_no": str(i),
            "backup_lcp_speed_last_60sec": "1000",
            "redo_speed_last_60sec": "500",
        }
        for i in range(4)
    ]
    (found,) = read_measurements(tabbed(rows))
    assert found.values == {"checkpoint_bytes_per_s": 4000, "redo_bytes_per_s": 2000}


@pytest.mark.parametrize(
    "text", ["", "hello", "{}", '{"jobs": 3}', "| a |\n| b |", "node_id\t1", IOSTAT[:30]]
)
def test_what_is_no_measurement_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(MeasurementError) as refused:
        read_measurements(text)
    assert "\n" not in refused.value.line
    assert refused.value.fix


@pytest.mark.parametrize(
    "text",
    ['{"fio version": "fio-3", "jobs": [{"write": {"iops": N}}]}', '{"sysstat": {"hosts": [{"x": N}]}}'],
)
def test_numbers_that_python_refuses_to_read_are_no_fault(text: str) -> None:
    with pytest.raises(MeasurementError, match="cut off or broken"):
        read_measurements(text.replace("N", "9" * 5000))


def test_a_broken_fio_document_is_named() -> None:
    with pytest.raises(MeasurementError, match="cut off"):
        read_measurements('{"jobs": [{"jobname": "x"')


@given(
    st.text(max_size=300)
    | st.recursive(
        st.none() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["jobs", "read", "write", "bw", "iops", "lat_ns", "mean", "job options", "rw"]
                ),
                inner,
            )
        ),
        max_leaves=12,
    ).map(lambda d: json.dumps({"jobs": d}))
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_measurements(text)
    except UserError:
        return
    for measurement in found:
        assert all(value >= 0 for value in measurement.values.values())


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (None, 4096), ("", 4096), ("none", 4096), ("0", 4096), ("512", 512), ("512b", 512), (8192, 8192),
        ("4k", 4096), ("64KiB,4k", 65536), ("1M", 2**20), ("3 mb", 3 * 2**20),
        (str(2**40), 2**40), (str(2**40 + 1), 4096),
    ],
)  # fmt: skip
def test_a_block_of_fio_is_read_with_its_unit(text: object, size: int) -> None:
    assert _block_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("1,5", 1.5),
        (-1, None),
        ("inf", None),
        ("nan", None),
        (True, None),
        ("x", None),
        (None, None),
    ],
)
def test_a_number_of_a_document_is_finite_and_not_negative(text: object, value: float | None) -> None:
    assert _number(text) == value


def test_a_number_of_a_document_that_reads_two_ways_is_refused() -> None:
    with pytest.raises(MeasurementError, match=r"1500 or 1\.5"):
        _number("1,500")
    assert _number("1.500") == 1.5
