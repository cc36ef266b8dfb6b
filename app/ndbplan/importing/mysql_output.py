"""Rows as the mysql client prints them: read from boxed tables, tab-separated values and \\G output; written.

for row in read_rows(text): row["table_name"], row.line
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_RULE = re.compile(r"\+(?:-+\+)+\s*$")
_VERTICAL = re.compile(r"\*{5,}\s*[0-9]+\. row\s*\*{5,}\s*$")


@dataclass(frozen=True)
class Row:
    """One row: values by column name in lower case."""

    values: dict[str, str]
    line: int
    """Line of the text, counted from 1."""

    def get(self, name: str) -> str | None:
        """The value of a column; None for NULL or a column that is not there."""
        value = self.values.get(name)
        return None if value in (None, "NULL", "\\N") else value

    def number(self, name: str) -> int | None:
        """The value as a whole number; None when it is none."""
        value = self.get(name)
        if value is None or not re.fullmatch(r"[0-9]{1,18}(?:\.0*)?", value.strip()):
            return None
        return int(float(value)) if "." in value else int(value)


def read_rows(text: str, problems: list[str] | None = None) -> Iterator[Row]:
    """Every row of every table in a text, whatever else stands around it.

    `problems` gets a line on each row of a boxed table that has not as many values as the table has columns.
    """
    header: list[str] | None = None
    tabbed: list[str] | None = None
    vertical: dict[str, str] | None = None
    vertical_line = 0
    rules = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if _VERTICAL.match(line):
            if vertical:
                yield Row(vertical, vertical_line)
            vertical, vertical_line = {}, number
            continue
        if vertical is not None:
            name, colon, value = line.partition(":")
            if colon and re.fullmatch(r"\s*\w+\s*", name):
                vertical[name.strip().lower()] = value.strip()
                continue
            if vertical:
                yield Row(vertical, vertical_line)
            vertical = None
        if _RULE.match(line.strip()):
            rules += 1
            if rules == 3:
                header, rules = None, 0
            continue
        if line.strip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if rules == 1 and header is None:
                header = [cell.lower() for cell in cells]
            elif header is not None and len(cells) == len(header):
                yield Row(dict(zip(header, cells, strict=True)), number)
            elif header is not None and problems is not None:
                column = line.index("|") + 1
                problems.append(
                    f"line {number}, column {column}: {len(cells)} values for {len(header)} columns"
                )
            tabbed = None
            continue
        header, rules = None, 0
        if "\t" in line:
            cells = [cell.strip() for cell in line.rstrip("\n").split("\t")]
            if tabbed is None or len(cells) != len(tabbed):
                tabbed = [cell.lower() for cell in cells]
            else:
                yield Row(dict(zip(tabbed, cells, strict=True)), number)
        else:
            tabbed = None
    if vertical:
        yield Row(vertical, vertical_line)


def grid_text(columns: Sequence[str], numeric: Sequence[bool], rows: Sequence[Sequence[object]]) -> str:
    """A table as the interactive mysql client prints it: boxed, numbers to the right, rows counted below.

    The client's time is that of a quick answer: nothing was asked over a network.
    """
    if not rows:
        return "Empty set (0.00 sec)\n"
    cells = [["NULL" if value is None else str(value) for value in row] for row in rows]
    widths = [max(len(name), *(len(row[i]) for row in cells)) for i, name in enumerate(columns)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"

    def line(texts: Sequence[str], right: Sequence[bool]) -> str:
        padded = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(texts, widths, right, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    head = line(columns, [False] * len(columns))
    body = [line(row, numeric) for row in cells]
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'} in set (0.00 sec)"
    return "\n".join([rule, head, rule, *body, rule, count]) + "\n"
