"""What decides between plans: variants side by side, and money."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.report.alike import alike
from ndbplan.report.document import Block, Line, Paragraph, Run, Table
from ndbplan.report.places import Place
from ndbplan.report.sources import Answers
from ndbplan.report.texts import say, text, words

_MOST_ROWS = 60
_MARKS = {"better": "▲ ", "worse": "▼ ", "within the uncertainty": "≈ "}


def comparison(answers: Answers) -> Iterator[Block]:
    """Headline figures of the variants, judged against the first, and in what they differ."""
    found = answers["compare"]
    if found is None:
        return
    columns = tuple(str(one) for one in found["columns"].value)
    rows = []
    for row in found["figures"]:
        if any(value is not None for value in row["values"].value):
            cells = [_cell(row, place) for place in range(len(columns))]
            rows.append(((row["title"].run(),), *cells))
    yield Paragraph(say("comparison.lead", first=found["columns"][0].run()), "lead")
    yield Table(text("comparison.title"), (text("heads.figure"), *columns), tuple(rows))
    rows = []
    for one in list(found["differences"])[:_MOST_ROWS]:
        values: list[Line] = [(one["values"][place].run(),) for place in range(len(columns))]
        rows.append(((one["where"].run(),), *values))
    if rows:
        yield Table(text("comparison.differences"), (text("heads.where"), *columns), tuple(rows))
    if len(found["differences"]) > _MOST_ROWS:
        yield Paragraph(say("comparison.more", count=found["differences"].count()), "note")


def _cell(row: Place, place: int) -> Line:
    if row["values"].value[place] is None:
        note = row["notes"][place]
        return (note.run("soft"),) if note else (Run("—"),)
    judged = row["judged"].value[place]
    mark = (Run(_MARKS[judged]),) if judged is not None else ()
    value = row["values"][place]
    line = value.line() if isinstance(value.value, dict) else (value.run(),)
    return (*mark, *line)


def cost(answers: Answers) -> Iterator[Block]:
    """What is bought and paid by the month; what states no price is named."""
    found = answers["cost"]
    if found is None:
        return
    yield Paragraph(say("cost.lead", total=found["total"].run(), months=found["months"].run()), "lead")
    names = ("purchase", "monthly", "energy_per_month", "per_month", "total")
    rows = [((Run(text(f"cost.{name}")),), (found[name].run(),)) for name in names if found.get(name)]
    yield Table(text("cost.title"), words("what", "amount"), tuple(rows))
    parts = found.get("parts")
    if parts is not None:
        shown = [
            group for group in alike(parts, ("what", "purchase", "per_month", "watts"))
            if any(group.first.get(key) is not None for key in ("purchase", "per_month", "watts"))
        ]  # fmt: skip
        lines = [
            ((group.first["what"].run(), Run(" "), *group.names("where")), (group.count(),),
             *(_money(group.first, key) for key in ("purchase", "per_month", "watts")))
            for group in shown[:_MOST_ROWS]
        ]  # fmt: skip
        heads = words("part", "count", "purchase", "per_month", "watts")
        yield Table(text("cost.parts"), heads, tuple(lines))
    for missing in found["not_stated"]:
        yield Paragraph(say("cost.not_stated", what=missing.run()), "note")


def _money(part: Place, key: str) -> Line:
    there = part.get(key)
    return (Run("—"),) if there is None else (there.run(),)
