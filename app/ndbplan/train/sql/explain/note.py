"""The note 1003 behind EXPLAIN: the statement as the server reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from ndbplan.train.sql.explain.sources import Source, Sources
from ndbplan.train.sql.explain.wording import together, worded
from ndbplan.train.sql.reading import typed_list


def of(tree: exp.Expr, sql: str, sources: Sources, told: Sequence[exp.Expr]) -> str:
    """The statement in full names, its tables as typed, its conditions as they are looked at."""
    where = f" where {together(told, sources.name)}" if told else ""
    if isinstance(tree, exp.Delete):
        return f"delete from {_table(sources.listed[0])}{where}"
    if isinstance(tree, exp.Update):
        sets = ",".join(worded(one, sources.name)[1:-1] for one in tree.expressions)
        return f"update {_table(sources.listed[0])} set {sets}{where}"
    listed = ",".join(_listed(tree, sql, sources))
    tables = " join ".join(map(_table, sources.listed))
    text = f"/* select#1 */ select {'distinct ' * bool(tree.args.get('distinct'))}{listed}"
    text += f" from {tables}{where}" if tables else ""
    return text + "".join(_behind(tree, sources))


def _table(source: Source) -> str:
    name = f"`{source.table.database}`.`{source.table.name}`"
    return name if source.alias == source.table.name else f"{name} `{source.alias}`"


def _listed(tree: exp.Expr, sql: str, sources: Sources) -> Iterator[str]:
    typed = typed_list(sql)
    for place, one in enumerate(tree.expressions):
        if one.is_star and not isinstance(one.unalias(), exp.Count):
            table = one.table if isinstance(one, exp.Column) else ""
            for source in sources.listed:
                if table.lower() in ("", source.alias.lower()):
                    for column in source.table.columns:
                        name = exp.column(column.name, source.alias)
                        yield f"{sources.name(name)} AS `{column.name}`"
            continue
        inner = one.unalias()
        head = typed[place] if place < len(typed) else inner.sql("mysql")
        if isinstance(one, exp.Alias):
            head = one.alias
        elif isinstance(inner, exp.Column):
            head = sources.of(inner)[1].name
        text = worded(inner, sources.name)
        yield f"{text} AS `{head}`"


def _behind(tree: exp.Expr, sources: Sources) -> Iterator[str]:
    group, order, limit = (tree.args.get(name) for name in ("group", "order", "limit"))
    if group is not None:
        yield f" group by {','.join(worded(one, sources.name) for one in group.expressions)}"
    if order is not None:
        keys = (
            worded(one.this, sources.name) + " desc" * bool(one.args.get("desc")) for one in order.expressions
        )
        yield f" order by {','.join(keys)}"
    if limit is not None:
        offset = tree.args.get("offset")
        yield f" limit {f'{offset.expression.name},' if offset is not None else ''}{limit.expression.name}"
