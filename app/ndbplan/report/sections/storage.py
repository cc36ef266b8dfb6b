"""What the data takes: tables, memory with growth, disks, and how rows are spread."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.units import MEMORY
from ndbplan.report.alike import alike
from ndbplan.report.document import Bar, BarChart, Block, Line, LineChart, Paragraph, Run, Series, Table
from ndbplan.report.places import Place
from ndbplan.report.sources import MONTHS, YEAR, Answers
from ndbplan.report.texts import say, text, words

_MOST_ROWS = 40
_OVER, _WARN = 1.0, 0.8
_MANY_PARTITIONS = 8
NODE = ("data_memory_bytes", "data_memory_limit_bytes", "ram_bytes", "ram_limit_bytes")


def fullest(nodes: Place) -> Place | None:
    """The data node whose DataMemory is fullest; None where none has a limit."""
    with_limit = [node for node in nodes if node.value["data_memory_limit_bytes"]]
    return max(with_limit, key=_fill, default=None)


def _fill(node: Place) -> float:
    return node["data_memory_bytes"].number / node["data_memory_limit_bytes"].number


def level(share: float) -> str:
    """How a share of something is coloured."""
    return "over" if share > _OVER else "warn" if share > _WARN else ""


def memory(answers: Answers) -> Iterator[Block]:
    """Tables with what they take, data nodes with their memory, and growth."""
    found = answers["estimate"]
    if found is None or not found["memory"]["nodes"]:
        return
    yield from _tables(found["memory"]["tables"])
    yield from _nodes(found["memory"]["nodes"])
    yield from _growth(answers, found)


def nodes(answers: Answers) -> Iterator[Block]:
    """Data nodes with their memory."""
    found = answers["estimate"]
    if found is not None and found["memory"]["nodes"]:
        yield from _nodes(found["memory"]["nodes"])


def _tables(tables: Place) -> Iterator[Block]:
    order = sorted(tables, key=lambda one: -_bytes(one))
    rows = []
    for table in order[:_MOST_ROWS]:
        names = ("fixed_bytes", "var_bytes", "hash_index_bytes", "ordered_index_bytes", "blob_bytes")
        numbers = [(table[name].run(),) for name in names]
        rows.append(((table["table"].run(),), (table["rows"].run(),), *numbers, (table["disk_bytes"].run(),)))
    if not rows:
        return
    heads = words("table", "rows", "fixed", "variable", "hash_index", "ordered_index", "blob", "on_disk")
    yield Paragraph(say("memory.tables", count=tables.count()), "lead")
    yield Table(text("memory.table_title"), heads, tuple(rows))
    if len(order) > _MOST_ROWS:
        yield Paragraph(say("memory.largest"), "note")


def _bytes(table: Place) -> float:
    return sum(
        table[name].number for name in ("fixed_bytes", "var_bytes", "hash_index_bytes", "ordered_index_bytes")
    )


def _nodes(nodes: Place) -> Iterator[Block]:
    bars, rows = [], []
    groups = alike(nodes, NODE)
    for group in sorted(groups, key=lambda one: -one.first["data_memory_bytes"].number)[:_MOST_ROWS]:
        node = group.first
        cells: list[Line] = [group.names("node_id"), node["data_memory_bytes"].line()]
        limit = node.get("data_memory_limit_bytes")
        cells.append(() if not limit else (limit.run(),))
        cells.append(node["ram_bytes"].line())
        ram = node.get("ram_limit_bytes")
        cells.append(() if not ram else (ram.run(),))
        rows.append(tuple(cells))
        if limit:
            bars.append(_bar(say("memory.node", nodes=group.names("node_id")),
                             node["data_memory_bytes"].over(limit)))  # fmt: skip
    if bars:
        yield BarChart(text("memory.fill_title"), "fraction", tuple(bars), full=1.0)
    heads = words("data_nodes", "data_memory", "limit", "ram", "ram_limit")
    yield Table(text("memory.nodes_title"), heads, tuple(rows))


def _bar(label: Line, share: Place) -> Bar:
    low, high = share.end_numbers
    return Bar(label, share.run(), share.number, low, high, level=level(share.number))  # type: ignore[arg-type]  # level() gives words of a Bar


def _years(months: Place) -> list[Place]:
    return [month for month in months if month and month.value["month"] % YEAR == 0]


def _growth(answers: Answers, found: Place) -> Iterator[Block]:
    grown = answers[f"estimate --months {MONTHS}"]
    if grown is None:
        return
    months = _years(grown["growth"]["months"])
    left = grown["growth"].get("months_until_full")
    if left is None:
        yield Paragraph(say("growth.never"), "lead")
    else:
        yield Paragraph(say("growth.full", months=left.line()), "lead")
    rows = []
    for month in months:
        node = max(month["nodes"], key=lambda one: float(one.value["fill"]), default=None)
        if node is not None:
            rows.append((_when(month), (node["node_id"].run(),),
                         node["data_memory_bytes"].line(), (node["fill"].run(),)))  # fmt: skip
    if rows:
        yield from _growth_chart(grown["growth"]["months"], found["memory"]["nodes"])
        yield Table(text("growth.title"), words("when", "node", "data_memory", "fill"), tuple(rows))


def _when(month: Place) -> Line:
    return say("growth.month", month=month["month"].run()) if month.value["month"] else say("growth.now")


def _growth_chart(months: Place, limits: Place) -> Iterator[Block]:
    """DataMemory of the node that is fullest at the end, over the months, against what it has now."""
    there = [(number, month) for number, month in enumerate(months) if month]
    last = there[-1][1]["nodes"]
    place = max(range(len(last)), key=lambda number: float(last.value[number]["fill"]))
    node = last[place]
    name = node["node_id"].run().text
    ys = [month["nodes"][place]["data_memory_bytes"].number for _, month in there]
    xs = tuple(float(month.value["month"]) for _, month in there)
    numbers = tuple(number for number, _ in there)
    at = f"{months.at}[*].nodes[{place}].data_memory_bytes"
    lines = [Series(text("growth.node").replace("{node}", name), at, numbers, xs, tuple(ys), "area")]
    limit = limits[place].get("data_memory_limit_bytes") if place < len(limits) else None
    if limit:
        at = f"{limits.at}[*].data_memory_limit_bytes"
        ends = (place,) * len(xs), xs, (limit.number,) * len(xs)
        lines.append(Series(text("growth.limit"), at, *ends, "limit"))
    yield LineChart(text("growth.chart"), "months", MEMORY, tuple(lines))


def space(answers: Answers) -> Iterator[Block]:
    """Disks with what lies on them, now and after growth."""
    found = answers["estimate"]
    if found is None or not found["disk_space"]["disks"]:
        return
    disks = found["disk_space"]["disks"]
    groups = alike(disks, ("disk", "capacity_bytes", "used_bytes", "fill"))
    order = sorted(groups, key=lambda one: -one.first["fill"].number)[:_MOST_ROWS]
    grown = answers[f"estimate --months {MONTHS}"]
    months = _years(grown["growth"]["months"])[1:] if grown is not None else []
    bars, rows = [], []
    for group in order:
        disk, number = group.first, group.numbers[0]
        name = (*group.names("host"), Run(" "), disk["disk"].run())
        bars.append(_bar(name, disk["fill"]))
        later: list[Line] = [(month["disks"][number]["fill"].run(),) for month in months]
        rows.append((name, (group.count(),), (disk["capacity_bytes"].run(),), disk["used_bytes"].line(),
                     disk["fill"].line(), *later))  # fmt: skip
    heads = words("disks", "count", "capacity", "used", "fill")
    heads = (*heads, *(text("space.after").replace("{month}", str(month.value["month"])) for month in months))
    yield BarChart(text("space.fill_title"), "fraction", tuple(bars[:16]), full=1.0)
    yield Table(text("space.title"), heads, tuple(rows))
    yield from _tablespaces(found)


def _tablespaces(found: Place) -> Iterator[Block]:
    spaces = found["disk_data"]["tablespaces"]
    rows = [
        ((one["tablespace"].run(),), one["used_bytes"].line(), (one["capacity_bytes"].run(),),
         one["fill"].line() if one.get("fill") else (Run("—"),))
        for one in spaces
    ]  # fmt: skip
    if rows:
        yield Table(text("space.tablespaces"), words("tablespace", "used", "capacity", "fill"), tuple(rows))


def distribution(answers: Answers) -> Iterator[Block]:
    """How evenly the rows of each table lie, and what the loss of a node makes of it."""
    found = answers["distribute"]
    if found is None or not found["tables"]:
        return
    rows = []
    order = sorted(found["tables"], key=lambda one: -one["skew"]["fullest_percent"].number)
    for table in order[:_MOST_ROWS]:
        skew, loss = table["skew"], table["skew"].get("worst_loss")
        after: Line = () if loss is None else say("distribution.loss", node=loss["lost_node"].run(),
                                                  factor=loss["factor"].run())  # fmt: skip
        cause = text(f"distribution.causes.{skew.value['cause'].replace(' ', '_')}")
        # Without rows nothing lies anywhere, evenly or not.
        held = any(one["rows"].number for one in table["partitions"])
        fullest, why = (skew["fullest_percent"].line(), (Run(cause),)) if held else ((Run("—"),), (Run("—"),))
        rows.append(((table["table"].run(),), (table["partitions"].count(),),
                     (table["hash_map"]["buckets"].run(),), fullest, why, after if held else ()))  # fmt: skip
    heads = words("table", "partitions", "buckets", "fullest", "cause", "loss")
    yield Paragraph(say("distribution.lead"), "lead")
    yield Table(text("distribution.title"), heads, tuple(rows), (0, 4, 5))
    yield from _partitions(order[0])


def _partitions(table: Place) -> Iterator[Block]:
    """The rows of each partition of the most uneven table, sorted."""
    rows = sorted(((one["rows"].number, n) for n, one in enumerate(table["partitions"])), reverse=True)
    if len(rows) < _MANY_PARTITIONS:
        return
    line = Series(
        table.value["table"],
        f"{table.at}.partitions[*].rows",
        tuple(number for _, number in rows),
        tuple(float(place + 1) for place in range(len(rows))),
        tuple(value for value, _ in rows),
        "area",
    )
    title = text("distribution.partitions").replace("{table}", table.value["table"])
    yield LineChart(title, "", "", (line,))
