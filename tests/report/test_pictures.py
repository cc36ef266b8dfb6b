"""Pictures of the canvas carry their plan, verify, and show when they were changed."""

from __future__ import annotations

import io
import json
import re
import struct
from pathlib import Path
from random import Random

import pikepdf
import pytest

from ndbplan.base.errors import UserError
from ndbplan.cli.window import drawn
from ndbplan.desktop.file_drops import plan_inside
from ndbplan.desktop.render import render
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan
from ndbplan.estimate.times.restart import Conditions
from ndbplan.exporting.evidence import digest, dumps, svg_carrying
from ndbplan.exporting.export import render_files
from ndbplan.exporting.gantt import gantt_carrying
from ndbplan.operations.procedure import Procedure
from ndbplan.plan.samples import sample_plan
from ndbplan.report.carriers import inside
from ndbplan.report.evidence import EvidenceError, loads, project_of
from ndbplan.report.pictures import DRAWN, with_text
from ndbplan.report.verify import verify
from report.conftest import priced

PLAN = priced(sample_plan("starter")).replace(workloads=())


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_carries_its_plan_and_verifies(suffix: str, tmp_path: Path, qapp: object) -> None:
    path = tmp_path / f"canvas{suffix}"
    render(PLAN, path, "dark")
    content = path.read_bytes()
    assert project_of(loads(inside(content, path.name)[1], path.name), path.name).main == PLAN
    assert verify(content, path.name, drawn).differ == ()
    other = PLAN.replace(hosts=PLAN.hosts[1:], processes=())
    render(other, path, "dark")
    swapped = path.read_bytes()
    assert verify(swapped, path.name, lambda *_: content).differ


def test_a_changed_text_of_an_svg_is_named(tmp_path: Path, qapp: object) -> None:
    path = tmp_path / "canvas.svg"
    render(PLAN, path)
    altered = path.read_bytes().replace(b">host-a1<", b">host-a7<", 1)
    found = verify(altered, path.name, drawn)
    assert [(one.written, one.computed) for one in found.differ] == [("host-a7", "host-a1")]


@pytest.mark.parametrize(("old", "new"), [(b'height="', b'height="1'), (b'="#', b'="#0')])
def test_a_changed_size_or_colour_of_an_svg_is_found(old: bytes, new: bytes, qapp: object) -> None:
    content = drawn(PLAN, ".svg", "light")
    before, after = content.split(b"</metadata>", 1)
    assert old in after
    altered = before + b"</metadata>" + after.replace(old, new, 1)
    found = verify(altered, "canvas.svg", lambda *_: content)
    assert [one.where for one in found.differ] == [DRAWN]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_prices_or_the_plan_stay_out(suffix: str, tmp_path: Path, qapp: object) -> None:
    path = tmp_path / f"canvas{suffix}"
    render(PLAN, path, without="prices")
    content = path.read_bytes()
    assert "purchase_price" not in inside(content, path.name)[1]
    assert verify(content, path.name, drawn).differ == ()
    render(PLAN, path, without="plan")
    content = path.read_bytes()
    with pytest.raises(EvidenceError, match="stayed out"):
        project_of(loads(inside(content, path.name)[1], path.name), path.name)
    found = verify(content, path.name, drawn)
    assert found.differ == ()
    assert "plan stayed out" in found.not_checked[0]
    other = PLAN.replace(hosts=PLAN.hosts[1:], processes=())
    altered = with_text(drawn(other, suffix, "light"), suffix, inside(content, path.name)[1])
    assert verify(altered, path.name, drawn).differ


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_every_altered_digit_of_what_a_picture_carries_is_found(suffix: str, qapp: object) -> None:
    """Most of a plan is not seen in the picture: rows of a table, or what a parameter is set to."""
    content = drawn(PLAN, suffix, "light")
    told = inside(content, "canvas")[1]
    bare = _without_evidence(content, suffix)
    random, places = Random(3), [place for place, sign in enumerate(told) if sign.isdigit()]
    for place in random.sample(places, 40):
        other = random.choice([sign for sign in "0123456789" if sign != told[place]])
        altered = with_text(bare, suffix, f"{told[:place]}{other}{told[place + 1 :]}")
        try:
            found = verify(altered, "canvas", lambda *_: content)
        except UserError:
            continue
        assert found.differ or found.made_by != found.checked_by, told[place - 40 : place + 20]


def _without_evidence(content: bytes, suffix: str) -> bytes:
    """The picture as it was drawn."""
    if suffix == ".svg":
        return re.sub(rb"<metadata id.*?</metadata>", b"", content, flags=re.DOTALL)
    if suffix == ".pdf":
        # What is attached gives way to what is attached anew.
        return content
    length = struct.unpack_from(">I", content, 33)[0]
    return content[:33] + content[45 + length :]


def test_a_page_tells_of_no_clock_and_no_lot_and_each_line_of_it_counts(qapp: object) -> None:
    content = drawn(PLAN, ".pdf", "light")
    altered = io.BytesIO()
    with pikepdf.open(io.BytesIO(content)) as pdf:
        assert sorted(pdf.docinfo) == ["/Producer", "/Title"]
        fonts = [one.DescendantFonts[0] for one in pdf.pages[0].Resources.Font.values()]
        assert [one.FontDescriptor.FontName for one in fonts] == [one.BaseFont for one in fonts]
        assert len(fonts) > 1
        page = pdf.pages[0].Contents
        page.write(page.read_bytes().replace(b"0", b"1", 1))
        pdf.save(altered)
    found = verify(altered.getvalue(), "canvas.pdf", lambda *_: content)
    assert [one.where for one in found.differ] == [DRAWN]


_GROWN = priced(sample_plan("starter"))
_RUNS = set_parameter(_GROWN, "data_node", "RedoBuffer", 2**26)


@pytest.mark.parametrize(
    "asked",
    [
        Procedure(groups=2),
        Procedure("change", running=_RUNS, conditions=Conditions(_GROWN.workloads[0], crashed=True)),
        Procedure("upgrade", version="9.0", conditions=Conditions(disk_factor=0.5)),
        Procedure("roll-out", names=("RedoBuffer",)),
    ],
    ids=lambda asked: asked.kind,
)
def test_a_picture_of_a_procedure_carries_its_plan_and_what_was_asked(asked: Procedure) -> None:
    content = gantt_carrying(_GROWN, asked).encode()
    told = inside(content, "gantt.svg")[1]
    assert "_price" not in told
    found = verify(content, "gantt.svg")
    assert (found.differ, found.not_checked) == ((), ())
    assert found.figures
    digit = re.search(rb">[^<]*?(\d+) (?:min|s)<", content)
    assert digit is not None
    longer = content[: digit.start(1)] + b"9" + content[digit.start(1) :]
    assert [one.written for one in verify(longer, "gantt.svg").differ]
    random = Random(3)
    asked_at = told.index('"procedure"')
    digits = [place for place, sign in enumerate(told) if sign.isdigit() and place > asked_at]
    for place in random.sample(digits, 20):
        other = random.choice([sign for sign in "0123456789" if sign != told[place]])
        altered = svg_carrying(
            _without_evidence(content, ".svg").decode(), f"{told[:place]}{other}{told[place + 1 :]}"
        )
        try:
            assert verify(altered.encode(), "gantt.svg").differ, told[place - 30 : place + 20]
        except UserError:
            continue


@pytest.mark.parametrize("version", ["abc", "7.6", "8.4"])
def test_a_picture_of_an_upgrade_that_nobody_can_draw_is_told_as_altered(version: str) -> None:
    """However its digests are put right."""
    content = gantt_carrying(_GROWN, Procedure("upgrade", version="9.x"))
    evidence = json.loads(inside(content.encode(), "gantt.svg")[1])
    evidence["procedure"]["version"] = version
    evidence["digests"]["procedure"] = digest(evidence["procedure"])
    altered = _without_evidence(content.encode(), ".svg").decode().replace("to 9.x", f"to {version}")
    found = verify(svg_carrying(altered, dumps(evidence)).encode(), "gantt.svg")
    assert [one.where for one in found.differ] == [DRAWN]


def test_a_plan_of_another_version_in_a_picture_is_told_as_altered() -> None:
    running, grown = (set_plan(plan, ndb_version="8.0") for plan in (PLAN, _GROWN))
    content = gantt_carrying(grown, Procedure(kind="change", running=running)).encode()
    before, version, after = inside(content, "gantt.svg")[1].rpartition('"ndb_version":"8.0"')
    assert version
    bare = _without_evidence(content, ".svg").decode()
    altered = svg_carrying(bare, f'{before}"ndb_version":"7.4"{after}')
    assert [one.where for one in verify(altered.encode(), "gantt.svg").differ] == [
        "answer of plan",
        "picture",
    ]


def test_a_picture_of_a_procedure_opens_its_plan_where_operations_are(tmp_path: Path) -> None:
    path = tmp_path / "add-nodes.svg"
    path.write_text(render_files(_GROWN, ["schedule"])["add-nodes.svg"])
    found = plan_inside(path)
    assert found.tab == "Operations"
    assert found.project.main.tables == _GROWN.tables
