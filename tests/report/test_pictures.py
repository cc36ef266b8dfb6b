"""Pictures of the canvas carry their plan, verify, and show when they were changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndbplan.cli.window import drawn
from ndbplan.desktop.render import render
from ndbplan.plan.samples import sample_plan
from ndbplan.report.carriers import inside
from ndbplan.report.evidence import EvidenceError, loads, project_of
from ndbplan.report.verify import verify
from report.conftest import priced

PLAN = priced(sample_plan("starter")).replace(workloads=())


@pytest.mark.parametrize("suffix", [".png", ".svg"])
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


def test_prices_or_the_plan_stay_out(tmp_path: Path, qapp: object) -> None:
    path = tmp_path / "canvas.svg"
    render(PLAN, path, without="prices")
    assert b"purchase_price" not in path.read_bytes()
    render(PLAN, path, without="plan")
    with pytest.raises(EvidenceError, match="stayed out"):
        project_of(loads(inside(path.read_bytes(), path.name)[1], path.name), path.name)
