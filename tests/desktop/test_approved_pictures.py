"""Pictures of the canvas look as somebody approved them: small grey copies, compared with some tolerance.

python tests/desktop/test_approved_pictures.py      # writes them anew: look at the pictures first
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from ndbplan.desktop.render import drawn
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan

APPROVED = Path(__file__).with_name("approved_pictures.json")
_WIDE, _HIGH = 48, 27
_MOST = 2.0
"""Mean difference of two grey copies, of 255."""
THEMES: tuple[Any, ...] = ("light", "dark")


def plans() -> dict[str, Plan]:
    starter = sample_plan("starter")
    return {
        "empty": EMPTY_PLAN,
        "one host": EMPTY_PLAN.replace(hosts=(starter.hosts[0].model_copy(update={"location_id": None}),)),
        "starter": starter,
        "overloaded": sample_plan("redo-overload"),
    }


CASES = [
    *((name, "", theme) for name in ("empty", "one host", "starter") for theme in THEMES),
    *(("overloaded", way, theme) for way in ("disk", "loss", "group", "problem") for theme in THEMES),
]


def grey(plan: Plan, way: str, theme: Any) -> bytes:
    """A picture as so many shades of grey."""
    return shades(QImage.fromData(drawn(plan, ".png", theme, colour_by=way)))


def shades(picture: QImage) -> bytes:
    """A small grey copy."""
    how = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    small = picture.scaled(_WIDE, _HIGH, *how).convertToFormat(QImage.Format.Format_Grayscale8)
    return b"".join(bytes(small.constScanLine(row))[:_WIDE] for row in range(_HIGH))


def difference(one: bytes, other: bytes) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)


def key(name: str, way: str, theme: str) -> str:
    return f"{name}, {way or 'plain'}, {theme}"


@pytest.fixture(scope="module")
def approved() -> dict[str, bytes]:
    return {name: bytes.fromhex(told) for name, told in json.loads(APPROVED.read_text("utf-8")).items()}


@pytest.mark.parametrize(("name", "way", "theme"), CASES, ids=[key(*case) for case in CASES])
def test_a_picture_is_as_it_was_approved(qapp, approved, name: str, way: str, theme: str) -> None:
    assert difference(grey(plans()[name], way, theme), approved[key(name, way, theme)]) < _MOST


def test_pictures_of_other_plans_and_themes_are_told_apart(approved) -> None:
    names = (
        "starter, plain, light",
        "overloaded, disk, light",
        "overloaded, disk, dark",
        "one host, plain, light",
    )
    told = [approved[name] for name in names]
    apart = [difference(a, b) for n, a in enumerate(told) for b in told[n + 1 :]]
    assert min(apart) > 2 * _MOST


if __name__ == "__main__":
    known = plans()
    made = {key(*case): grey(known[case[0]], *case[1:]).hex() for case in CASES}
    APPROVED.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
