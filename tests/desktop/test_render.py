"""Pictures of the canvas without a window."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

from ndbplan.desktop.look import theme
from ndbplan.desktop.render import RenderError, drawn_as, render
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan
from ndbplan.report.verify import verify


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_a_png_has_the_canvas_of_its_appearance(qapp, tmp_path: Path, appearance) -> None:
    path = tmp_path / "canvas.png"
    render(sample_plan("starter"), path, appearance)
    image = QImage(str(path))
    assert image.width() > 1500
    tokens = theme.LIGHT if appearance == "light" else theme.DARK
    assert image.pixelColor(4, 4) == QColor(tokens.canvas)
    colours = {
        image.pixelColor(x, y).name() for x in range(0, image.width(), 5) for y in range(0, image.height(), 5)
    }
    assert tokens.card in colours
    assert tokens.group(0) in colours


def test_an_svg_is_vectors_with_the_names_in_it(qapp, tmp_path: Path) -> None:
    path = tmp_path / "canvas.svg"
    render(sample_plan("starter"), path, with_loads=False)
    root = ElementTree.parse(path).getroot()
    words = "".join(root.itertext())
    assert "host-a1" in words
    assert "Group 0" in words
    images = root.iter("{http://www.w3.org/2000/svg}image")
    assert sum(1 for _ in images) <= sum(len(h.disks) for h in sample_plan("starter").hosts)


def test_a_coloured_picture_has_its_legend_and_is_drawn_so_again(qapp, tmp_path: Path) -> None:
    path = tmp_path / "canvas.svg"
    plan = sample_plan("redo-overload")
    render(plan, path, colour_by="disk")
    words = "".join(ElementTree.parse(path).getroot().itertext())
    assert "95 % and more" in words
    assert "106 %" in words
    found = verify(path.read_bytes(), path.name, drawn_as)
    assert found.figures > 20
    assert not found.differ
    plain = tmp_path / "plain.svg"
    render(plan, plain)
    assert "95 % and more" not in plain.read_text()


def test_a_pdf_is_one_page(qapp, tmp_path: Path) -> None:
    path = tmp_path / "canvas.pdf"
    render(sample_plan("add-nodes"), path, with_loads=False)
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") == 1


def test_the_largest_plan_and_the_empty_one_are_drawn(qapp, tmp_path: Path) -> None:
    render(sample_plan("telecom-144"), tmp_path / "large.svg", with_loads=False)
    assert (tmp_path / "large.svg").stat().st_size > 100_000
    render(EMPTY_PLAN, tmp_path / "empty.png")
    assert QImage(str(tmp_path / "empty.png")).width() > 100


def test_what_cannot_be_drawn_says_why_and_leaves_the_old_file(qapp, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match="png"):
        render(EMPTY_PLAN, tmp_path / "canvas.jpeg")
    with pytest.raises(RenderError, match="folder"):
        render(EMPTY_PLAN, tmp_path / "missing" / "canvas.png")
    (tmp_path / "canvas.png").mkdir()
    with pytest.raises(RenderError):
        render(EMPTY_PLAN, tmp_path / "canvas.png")
    assert [p.name for p in tmp_path.iterdir()] == ["canvas.png"]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_keeps_the_permissions_and_takes_any_name(qapp, tmp_path: Path, suffix: str) -> None:
    """No file is opened by its name and given its permissions afterwards, when it may be another one."""
    path = tmp_path / os.fsdecode(b"caf\xe9-\xff" + suffix.encode())
    path.write_bytes(b"private")
    path.chmod(0o600)
    render(EMPTY_PLAN, path, with_loads=False)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(path.read_bytes()) > 100
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_display_a_picture_is_made_all_the_same(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from ndbplan.desktop.render import render;"
        "from ndbplan.plan.samples import sample_plan;"
        f"render(sample_plan('starter'), Path({str(tmp_path / 'a.png')!r}), with_loads=False)"
    )
    gone = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {k: v for k, v in os.environ.items() if k not in gone}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").stat().st_size > 10_000
