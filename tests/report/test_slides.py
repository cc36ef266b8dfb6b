"""Slides hold native tables and charts with the figures, and the plan."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from pptx import Presentation
from pptx.chart.plot import BarPlot

from ndbplan.edits.parts import update
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import Options
from ndbplan.report.document import LineChart
from ndbplan.report.evidence import EvidenceError, ask
from ndbplan.report.verify import verify
from ndbplan.report.write import make, write
from report.conftest import Example


@pytest.fixture(scope="module")
def content(example: Example) -> bytes:
    return write(example.made, ".pptx")


def test_tables_and_charts_are_native(example: Example, content: bytes) -> None:
    shapes = [shape for slide in Presentation(io.BytesIO(content)).slides for shape in slide.shapes]
    assert sum(shape.has_table for shape in shapes) > 8
    charts = [shape.chart for shape in shapes if shape.has_chart]
    assert len(charts) > 6
    drawn = [block for s in example.made.document.sections for block in s.blocks]
    # In the units of their axes: memory is told in GiB.
    for title, factor in (
        ("Transactions per second", 1.0),
        ("DataMemory of the data node that fills first", 2.0**30),
    ):
        curves = next(block for block in drawn if isinstance(block, LineChart) and block.title == title)
        names = [one.name for one in curves.series]
        made = next(chart for chart in charts if [one.name for one in chart.plots[0].series] == names)
        written = [factor * value for value in made.plots[0].series[0].values]
        assert written == pytest.approx(curves.series[0].ys, rel=1e-6)


def test_what_is_said_of_a_long_table_stands_on_its_slide() -> None:
    """A table that fills a slide leaves room for it: a slide for one line alone says nothing."""
    wanted = Options(sections=("operations",))
    made = make(ask(Project.of(sample_plan("starter")), wanted), wanted)
    slides = Presentation(io.BytesIO(write(made, ".pptx"))).slides
    said = [
        [shape for shape in slide.shapes if shape.has_text_frame and "no way back" in shape.text_frame.text]
        for slide in slides
    ]
    (there,) = [number for number, shapes in enumerate(said) if shapes]
    assert any(shape.has_table for shape in slides[there].shapes)


def test_nothing_stands_beyond_a_slide_and_lengths_begin_at_nothing(example: Example) -> None:
    """With many hosts and long tables too: rows that do not fit are said to be left out."""
    large = Project.of(sample_plan("telecom-144"))
    wanted = Options(sections=("topology", "distribution"))
    for made in (example.made, make(ask(large, wanted), wanted)):
        deck = Presentation(io.BytesIO(write(made, ".pptx")))
        shapes = [shape for slide in deck.slides for shape in slide.shapes]
        for shape in shapes:
            assert shape.left + shape.width <= deck.slide_width
            assert shape.top + shape.height <= deck.slide_height
        for shape in shapes:
            if shape.has_chart and isinstance(shape.chart.plots[0], BarPlot):
                assert shape.chart.value_axis.minimum_scale == 0
    said = {shape.text_frame.text for shape in shapes if shape.has_text_frame}
    assert any(re.fullmatch(r"The first [0-9]+ of 20 rows;.*", words) for words in said)
    assert sum(words.startswith("dn-a01") for words in said) == 1


def test_a_long_name_stays_in_its_tile() -> None:
    plan = sample_plan("starter").replace(workloads=())
    host = plan.hosts[0]
    plan = update(plan, host.id, hostname="a-host-with-a-very-long-name.of-a-deep-domain.example.net")
    wanted = Options(sections=("topology",))
    deck = Presentation(io.BytesIO(write(make(ask(Project.of(plan), wanted), wanted), ".pptx")))
    tiles = [
        s for slide in deck.slides for s in slide.shapes if s.has_text_frame and not s.text_frame.word_wrap
    ]
    cut = [tile for tile in tiles if tile.text_frame.text.startswith("a-host")]
    assert len(cut) == 1
    for tile in tiles:
        for paragraph in tile.text_frame.paragraphs:
            # Letters are half as wide as they are high on average.
            wide = len(paragraph.text) * 0.5 * (paragraph.font.size or 0)
            assert wide <= tile.width, paragraph.text


def test_every_bar_has_its_name(content: bytes) -> None:
    """Programs leave out every other name where bars are close, unless they are told not to."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        charts = [archive.read(name) for name in archive.namelist() if name.startswith("ppt/charts/chart")]
    bars = [chart for chart in charts if b"<c:barChart>" in chart]
    assert bars
    assert all(b'<c:tickLblSkip val="1"/><c:noMultiLvlLbl' in chart for chart in bars)


def test_the_headlines_are_on_the_second_slide(example: Example, content: bytes) -> None:
    slide = Presentation(io.BytesIO(content)).slides[1]
    said = " ".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)
    assert all(one.value.text in said for one in example.made.document.headlines)


def test_the_same_bytes_twice_and_no_time_inside(example: Example, content: bytes) -> None:
    assert write(example.made, ".pptx") == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_damaged_file_is_refused_in_a_line(content: bytes) -> None:
    """A byte of a packed slide or chart that changed on its way."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = archive.getinfo("ppt/slides/slide2.xml").header_offset + 120
    other = bytes([content[place] ^ 1])
    with pytest.raises(EvidenceError, match="damaged"):
        verify(content[:place] + other + content[place + 1 :], "deck.pptx")


def test_a_changed_figure_is_found(example: Example, content: bytes) -> None:
    assert verify(content, "deck.pptx").differ == ()
    figure = example.made.document.headlines[0].value.text.encode()
    altered = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(altered, "w") as new:
        for info in old.infolist():
            inside = old.read(info)
            if info.filename == "ppt/slides/slide2.xml":
                inside = inside.replace(figure, b"99 999 tx/s")
            new.writestr(info, inside)
    found = verify(altered.getvalue(), "deck.pptx")
    assert ("99 999 tx/s", figure.decode()) in {(one.written, one.computed) for one in found.differ}
