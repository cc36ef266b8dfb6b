"""A report is one file, whole and always the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ndbplan
from ndbplan.base.errors import UserError
from ndbplan.cli import all_commands
from ndbplan.edits import parts as edits
from ndbplan.plan.file import save
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report import charts
from ndbplan.report.compose import Options, compose
from ndbplan.report.document import (
    Bar,
    BarChart,
    Gauge,
    LineChart,
    Listing,
    Paragraph,
    Run,
    Table,
    Tile,
    TileMap,
    runs_of,
)
from ndbplan.report.evidence import ask
from ndbplan.report.html import html_of
from ndbplan.report.notes import FRONT, notes_of
from ndbplan.report.pdf import source
from ndbplan.report.places import found
from ndbplan.report.sections.checking import assumptions
from ndbplan.report.sections.front import assumed, headlines
from ndbplan.report.sources import SOURCES, Answers, Asked
from ndbplan.report.svg import WIDTH
from ndbplan.report.tiles import tiles
from ndbplan.report.write import report
from report.conftest import Example


def test_growth_is_drawn_against_what_there_is(example: Example) -> None:
    memory = next(one for one in example.made.document.sections if one.key == "memory")
    (chart,) = (block for block in memory.blocks if isinstance(block, LineChart))
    grown, limit = chart.series
    assert list(grown.xs) == [float(month) for month in range(0, 25, 2)]
    assert grown.ys[-1] > grown.ys[0]
    assert set(limit.ys) == {sample_plan("redo-overload-8.4").parameters.data_node["DataMemory"]}


def test_the_first_page(example: Example) -> None:
    document = example.made.document
    titles = [one.title for one in document.headlines]
    # There would be eleven: that of a restart of the whole cluster stands further behind.
    assert len(titles) == 10
    assert {"Highest load for an hour", "First error in the simulated load", "Fullest DataMemory"} < {*titles}
    assert titles[-1] == "Cost"
    said = " ".join("".join(run.text for run in block.line) for block in document.front)  # type: ignore[union-attr]
    assert "limited" in said
    assert "rows of test.blobs_5k" in said
    assert "Asked for in May" in said
    memory = next(one for one in document.sections if one.key == "memory")
    assert memory.blocks[0].line[1] == Run("sales", "", "code")  # type: ignore[union-attr]


def test_sections_without_a_source_are_left_out() -> None:
    document = compose(Answers(Asked(Project.of(EMPTY_PLAN))), Options(), "0")
    assert [section.key for section in document.sections] == ["problems", "quality"]
    assert not any(isinstance(b, Table) for section in document.sections for b in section.blocks)
    assert len(document.front) == 1, "no figure rests on anything assumed"


def test_where_nothing_is_stored_no_backup_is_timed() -> None:
    plan = sample_plan("starter").replace(tables=(), workloads=())
    document = compose(Answers(Asked(Project.of(plan))), Options(sections=("operations", "quality")), "0")
    assert not [run.text for _, run in runs_of(document) if "ackup" in run.text or "estore it" in run.text]
    drawn = [one for section in document.sections for one in section.blocks if isinstance(one, BarChart)]
    assert drawn
    assert all(max(bar.high for bar in chart.bars) > 0 for chart in drawn)


def test_what_is_assumed_of_hardware_stands_on_the_first_page_with_what_half_of_it_makes() -> None:
    plan = sample_plan("starter").replace(workloads=())
    plan = edits.update(plan, plan.hosts[0].disks[0].id, assumed=("capacity_bytes",))
    plan = edits.update(plan, plan.hosts[0].disks[1].id, assumed=("capacity_bytes",))
    answers = Answers(Asked(Project.of(plan)))
    _, line, core = (block.line for block in assumed(answers) if isinstance(block, Paragraph))
    assert "core" in "".join(run.text for run in core), "nobody timed starts on slower and faster ones"
    said = "".join(run.text for run in line)
    assert said.startswith("the capacity of the disks of host-a1: with half of it, “Fullest disk” would be ")
    (full,) = (one for one in headlines(answers) if one.title == "Fullest disk")
    now, halved = (found(answers.json, run.at).number for run in (full.value, line[-1]))
    assert halved == pytest.approx(2 * now)
    (table,) = (block for block in assumptions(answers) if isinstance(block, Table))
    assert [cell[0].text for cell in table.rows[0]] == ["host-a1", "of disks: capacity bytes"]


def test_a_report_without_sections_has_no_table_of_contents() -> None:
    document = compose(Answers(Asked(Project.of(EMPTY_PLAN))), Options(sections=("hardware",)), "0")
    assert document.sections == ()
    assert "<nav" not in html_of(document, "")
    assert "#contents" not in source(document)


def test_all_nodes_of_a_narrow_tile_are_said() -> None:
    ids = tuple(Run(str(number)) for number in range(140, 147))
    many = [Tile(Run(f"app{number}"), ids, "sql") for number in range(20)]
    drawn = "".join(tiles(TileMap("", ((Run("rack"), tuple(many)),)))[1])
    written = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert sum(len(re.findall(r"\b14\d\b", text)) for text in written) == 7 * 20
    assert not any("…" in text for text in written)


@given(
    names=st.lists(st.integers(1, 40), min_size=1, max_size=40),
    nodes=st.integers(0, 9),
    gauges=st.integers(0, 3),
)
def test_hosts_stand_beside_one_another_within_the_page(names: list[int], nodes: int, gauges: int) -> None:
    inside = tuple(Run(str(number)) for number in range(nodes))
    levels = tuple(Gauge(Run("redo"), Run("50 %"), 0.5) for _ in range(gauges))
    many = tuple(Tile(Run("h" * length), inside, "data", levels) for length in names)
    height, drawn = tiles(TileMap("", ((Run("rack"), many),)))
    places = [
        tuple(float(found) for found in re.findall(r'\b(?:x|y|width|height)="(-?[0-9.]+)"', one))
        for one in re.findall(r'<rect class="tile[^>]*rx="4">', "".join(drawn))
    ]
    assert len(places) == len(many)
    for number, (x, y, wide, high) in enumerate(places):
        assert x >= 0
        assert x + wide <= WIDTH, "cut off at the right"
        assert y >= 0
        assert y + high <= height
        for x2, y2, wide2, high2 in places[:number]:
            assert x >= x2 + wide2 or x2 >= x + wide or y >= y2 + high2 or y2 >= y + high, "one over another"
    rows = {y for _, y, _, _ in places}
    (wide,) = {wide for _, _, wide, _ in places}
    assert len(rows) == 1 or (max(x for x, *_ in places) + 2 * wide + 20) > WIDTH, "a row has room for more"


def test_sections_come_in_the_order_of_the_page_and_only_those_asked_for(example: Example) -> None:
    keys = [section.key for section in example.made.document.sections]
    assert keys == [key for key in example.options.sections if key in keys]
    only = compose(example.answers, Options(sections=("problems", "hardware")), "0")
    assert [section.key for section in only.sections] == ["hardware", "problems"]


def test_a_report_is_about_the_load_that_is_named() -> None:
    """A plan's second load, by its name or id, is what is simulated, and every page says which it is."""
    project = Project.of(sample_plan("disk-data-8.4"))
    reads = project.main.workloads[1]
    found = ask(project, Options(workload=reads.id)), ask(project, Options(workload=reads.name))
    assert [one.now.workload for one in found] == [reads, reads]
    answers = Answers(found[0])
    run = answers["simulate"]
    assert run is not None
    assert run["offered_per_s"].number == pytest.approx(1290, rel=0.02)
    document = compose(answers, Options(sections=("simulation",)), "")
    told = [run.text for _, run in runs_of(document)]
    assert told.count(reads.name) == 2
    assert project.main.workloads[0].name not in told
    with pytest.raises(UserError, match="variant 'Main' has no workload 'sale'"):
        ask(project, Options(workload="sale"))


def test_unknown_sections_and_endings_are_refused() -> None:
    project = Project.of(sample_plan("starter"))
    with pytest.raises(UserError, match="no section 'memry'") as refused:
        report(project, Options(sections=("memry",)), ".html")
    assert "memory" in refused.value.fix
    with pytest.raises(UserError, match="not a kind of report"):
        report(project, Options(), ".docx")


def test_the_same_plan_gives_the_same_bytes(example: Example, tmp_path: Path) -> None:
    """In another process with another hash seed and locale."""
    save(example.project, tmp_path / "plan.ndbplan")
    (tmp_path / "notes.md").write_text(example.options.notes, encoding="utf-8")
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}
    environment["PYTHONPATH"] = str(Path(ndbplan.__file__).parents[1])
    arguments = [
        "report", "plan.ndbplan", "-o", "again.html", "--customer", example.options.customer,
        "--date", example.options.date, "--notes", "notes.md",
        "--sections", ",".join(example.options.sections),
    ]  # fmt: skip
    command = [sys.executable, "-m", "ndbplan", *arguments]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "again.html").read_text("utf-8") == example.html


def test_one_file_without_network(example: Example) -> None:
    page = example.html.partition("<script type=")[0]
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert not re.search(r"url\(|@import|<link|https?:", page)
    assert len(example.html) < 3_000_000


def test_every_source_is_a_command() -> None:
    names = {command.split()[0] for command in SOURCES}
    assert names - {"plan"} <= {*all_commands().commands}


def test_the_range_of_a_step_is_drawn_as_long_as_it_is() -> None:
    """The last of two takes 10 s, 20 s at most: longer than all that is expected of both."""
    value = Run("10 s")
    bars = (Bar((Run("one"),), value, 10.0, 10.0, 10.0), Bar((Run("two"),), value, 10.0, 5.0, 20.0, 10.0))
    drawn = charts.svg_of(BarChart("", "s", bars, timeline=True))
    span = re.findall(r'class="span" d="M([0-9.]+) [0-9.]+H([0-9.]+)M', drawn)[-1]
    bar = re.findall(r'<rect [^>]*x="([0-9.]+)"[^>]*width="([0-9.]+)"', drawn)[-1]
    (begin, end), (x, width) = map(float, span), map(float, bar)
    assert x + width - begin == pytest.approx(width / 2, abs=0.2)
    assert end - x == pytest.approx(2 * width, abs=0.2)
    assert end <= charts.WIDTH - charts._VALUES


_SAID = """Asked *twice* in a_b_c, _once_ `x*y*z`, see [the page](https://example.net/a).
goes on

1. first
2. **second**
- item
  goes on
> quoted

| a | b |
|---|:-:|
| 1 | *2* |
| 3 |

# Hardware
```
two  blanks
# no heading
```
<b>bold</b>
"""


def test_notes_are_read_as_markdown() -> None:
    found = notes_of(_SAID, {"hardware": "Hardware"})
    paragraphs = [block for block in found[FRONT] if isinstance(block, Paragraph)]
    told = [(block.kind, "".join(run.text for run in block.line)) for block in paragraphs]
    assert told == [
        ("quote", "Asked twice in a_b_c, once x*y*z, see the page (https://example.net/a). goes on"),
        ("quote", "1. first"),
        ("quote", "2. second"),
        ("item", "item goes on"),
        ("quote", "quoted"),
    ]
    assert [run.text for run in paragraphs[0].line if run.kind == "strong"] == ["twice", "once"]
    table = found[FRONT][-1]
    assert isinstance(table, Table)
    assert table.heads == ("a", "b")
    cells = [["".join(run.text for run in cell) for cell in row] for row in table.rows]
    assert cells == [["1", "2"], ["3", ""]]
    listing, words = found["hardware"]
    assert isinstance(listing, Listing)
    assert listing.text == "two  blanks\n# no heading"
    assert words == Paragraph((Run("<b>bold</b>"),), "quote")


def test_signs_of_markdown_are_themselves_behind_a_backslash() -> None:
    (said,) = notes_of("\\*as it is\\* and ***both***, __so__ too, C:\\data\\x", {})[FRONT]
    assert isinstance(said, Paragraph)
    assert "".join(run.text for run in said.line) == "*as it is* and both, so too, C:\\data\\x"
    assert [run.text for run in said.line if run.kind == "strong"] == ["both", "so"]
