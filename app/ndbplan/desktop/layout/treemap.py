"""Treemap: rectangles whose areas are shares of a whole, as nearly square as they get.

    squarified([6, 3, 1], Rect(0, 0, 100, 50))

After Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).
"""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.desktop.look.rect import Rect


def squarified(sizes: Sequence[float], area: Rect) -> list[Rect]:
    """A rectangle for each size, in the order given; the areas add up to the whole. Sizes are not negative.

    The larger sizes come first, the better the shapes are; a size of 0 gets no area.
    """
    whole = sum(sizes)
    if whole <= 0 or area.width <= 0 or area.height <= 0:
        return [Rect(area.x, area.y, 0.0, 0.0) for _ in sizes]
    scale = area.width * area.height / whole
    left = [size * scale for size in sizes]
    placed: list[Rect] = []
    while left:
        side = min(area.width, area.height)
        count = 1
        while count < len(left) and _worst(left[: count + 1], side) <= _worst(left[:count], side):
            count += 1
        row, left = left[:count], left[count:]
        area = _lay(row, area, placed, is_last=not left)
    return placed


def _worst(row: Sequence[float], side: float) -> float:
    """How far from square the worst rectangle of a row is; 1 is a square."""
    total, most, least = sum(row), max(row), min(row)
    if least <= 0 or side <= 0:
        return float("inf")
    return max(side * side * most / (total * total), total * total / (side * side * least))


def _lay(row: Sequence[float], area: Rect, placed: list[Rect], *, is_last: bool) -> Rect:
    """Put a row along the shorter side; what is left of the area."""
    total = sum(row)
    if area.width >= area.height:
        thick = area.width if is_last else (total / area.height if area.height > 0 else 0.0)
        y = area.y
        for size in row:
            height = area.height * size / total if total > 0 else 0.0
            placed.append(Rect(area.x, y, thick, height))
            y += height
        return Rect(area.x + thick, area.y, max(0.0, area.width - thick), area.height)
    thick = area.height if is_last else (total / area.width if area.width > 0 else 0.0)
    x = area.x
    for size in row:
        width = area.width * size / total if total > 0 else 0.0
        placed.append(Rect(x, area.y, width, thick))
        x += width
    return Rect(area.x, area.y + thick, area.width, max(0.0, area.height - thick))
