"""What the commands that compare plans promise to print with --json."""

from __future__ import annotations

from ndbplan.base.shapes import Schema, promise, schema_of
from ndbplan.cli.schema_words import (
    CHANGE,
    ESTIMATED,
    FILES,
    INTEGER,
    NUMBER,
    OBJECT,
    QUANTITY,
    STRING,
    array,
    closed,
    or_null,
    record,
    said,
)


def compare() -> Schema:
    """Of `compare`: columns of figures, and what differs."""
    from ndbplan.advise.compare import Comparison, Difference, Row

    row = promise(Row, "figure title unit values judged notes spread", values=array(or_null(ESTIMATED)))
    return promise(
        Comparison,
        "columns differences figures problems",
        differences=array(promise(Difference, "where kind values")),
        figures=array(row),
        problems=array(settled()),
    )


def changed() -> Schema:
    """Of `set`: what changed, with the problems of `check` that are gone and that are new."""
    return record(files=FILES, set=array(CHANGE), **settled()["properties"])


def settled() -> Schema:
    """Problems that a change settles and brings."""
    from ndbplan.checks.settled import Settled, Standing

    problems = array(promise(Standing, "rule severity where title"))
    return promise(Settled, "settles brings", settles=problems, brings=problems)


def size() -> Schema:
    """Of `size`: plans and excuses."""
    from ndbplan.advise.sizing.choosing import Choosing, Standing
    from ndbplan.advise.sizing.excused import Excuse
    from ndbplan.advise.sizing.search import Sized
    from ndbplan.advise.sizing.sized_plan import SizedPlan
    from ndbplan.advise.sizing.verdict import Met

    # A limit that cannot be met at all, such as a job whose rows do not get in, is endlessly far away.
    met = promise(Met, "limit needed allowed share certain", share=or_null(NUMBER))
    figures: Schema = {"type": "object", "additionalProperties": or_null(QUANTITY)}
    sized = promise(
        SizedPlan,
        "rank title figures cost why limits certain node_groups plan",
        figures=figures,
        cost=or_null(QUANTITY),
        limits=array(met),
        plan=OBJECT,
    )
    standing = promise(Standing, "rank holds on_front regret", regret=or_null(QUANTITY))
    rank = {"type": ["integer", "null"]}
    choosing = promise(
        Choosing, "plans sure not_sure least_regret knee worlds note",
        plans=array(standing), sure=rank, least_regret=rank, knee=rank, worlds={"type": "integer"},
    )  # fmt: skip
    promised = promise(
        Sized,
        "plans excuses not_looked_at ranked_by choosing",
        plans=array(sized),
        excuses=array(closed(schema_of(Excuse))),
        choosing=choosing,
    )
    return said(promised, "Plans that meet the requirements, best first; why other classes of hosts do not.")


def mattering() -> Schema:
    """One change of `what-matters`."""
    from ndbplan.advise.what_matters import Mattering

    row = promise(
        Mattering,
        "title set before after gain cost why what",
        set={"type": ["array", "null"], "items": STRING},
        before=or_null(QUANTITY),
        after=or_null(QUANTITY),
        gain=or_null(NUMBER),
        cost=or_null(QUANTITY),
    )
    row["properties"]["problems"] = or_null(settled())
    row["required"].append("problems")
    return row


def sweep() -> Schema:
    """Rows of figures by their inputs, and how far each input by itself moves a figure."""
    return closed(
        record(
            files=FILES,
            rows=INTEGER,
            computed=INTEGER,
            errors=array(closed(record(row=INTEGER, error=STRING))),
            swings=array(_swings()),
            cells=array(closed(record(inputs=OBJECT, figures=OBJECT))),
            optional=("cells",),
        )
    )


def _swings() -> Schema:
    end = {"value": NUMBER, "with": STRING}
    each = closed(record(input=STRING, low=closed(record(**end)), high=closed(record(**end))))
    found = record(figure=STRING, unit=STRING, now=or_null(NUMBER), inputs=OBJECT, each=array(each))
    return said(
        closed(found),
        "A figure over the values of each input by itself, the widest swing first; 'inputs': what the others "
        "stay at, 'now': the figure of it, null: it has none.",
    )
