"""Tables as the mysql client prints them: what a real one printed is written again to the letter."""

from __future__ import annotations

from ndbplan.importing.mysql_output import grid_text, read_rows

RECORDED = """\
+---------+----------+--------+----------+----------+--------+
| node_id | log_type | log_id | log_part | total    | used   |
+---------+----------+--------+----------+----------+--------+
|       2 | REDO     |      0 |        1 | 33554432 | 294912 |
|       2 | DD-UNDO  |     23 |        0 |  2096128 |      0 |
+---------+----------+--------+----------+----------+--------+
2 rows in set (0.00 sec)
"""
"""Two rows of ndbinfo.logbuffers of a running 7.4.10 cluster, time aside."""


def test_what_the_client_printed_is_written_again_to_the_letter() -> None:
    rows = [tuple(row.values.values()) for row in read_rows(RECORDED)]
    columns = ("node_id", "log_type", "log_id", "log_part", "total", "used")
    numeric = (True, False, True, True, True, True)
    assert grid_text(columns, numeric, rows) == RECORDED


def test_no_rows_one_row_and_null() -> None:
    assert grid_text(("a",), (True,), []) == "Empty set (0.00 sec)\n"
    text = grid_text(("a",), (True,), [(None,)])
    assert "| NULL |" in text
    assert text.endswith("1 row in set (0.00 sec)\n")
