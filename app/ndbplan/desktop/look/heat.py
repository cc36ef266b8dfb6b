"""Colours of a map: darker below, brighter above (in the light theme the other way round), calm in between.

Lightness alone tells low from high, so the map is read without seeing hues too.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

from PySide6.QtGui import QColor

from ndbplan.desktop.look.theme import Tokens

_STEPS = 48
"""Shades on each side: more nobody tells apart, and shared colours are made once."""
_LOW_SHARE = 0.30
"""Of the hue of what is low in its deepest shade."""


def mixed(one: str, other: str, share: float) -> QColor:
    """A colour between two, `share` of it from the second."""
    a, b = QColor(one), QColor(other)
    parts = [
        round(x + (y - x) * share)
        for x, y in ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    ]
    return QColor(*parts)


def middle(tokens: Tokens) -> QColor:
    """Colour of what is neither low nor high."""
    return mixed(tokens.faint, tokens.line_strong, 0.35)


@lru_cache(maxsize=512)
def _shade(tokens: Tokens, step: int) -> QColor:
    share = step / _STEPS
    calm = middle(tokens).name()
    if step < 0:
        deepest = mixed(tokens.canvas, tokens.info, _LOW_SHARE).name()
        return mixed(calm, deepest, -share)
    return mixed(calm, tokens.warning_fill if tokens.is_dark else tokens.warning, share)


def heat(tokens: Tokens, value: float) -> QColor:
    """The colour of a value from -1 (lowest) over 0 (as expected) to 1 (highest); shared, never change it."""
    far = max(-1.0, min(1.0, value))
    # Small deviations are those one looks for: they get more than their share of the shades.
    return _shade(tokens, round(_STEPS * (sqrt(far) if far >= 0 else -sqrt(-far))))


_HALF_AS_LIGHT = 0.19
"""Luminance, as WCAG 2 counts it, on which both are read equally well."""


def ink_on(ground: QColor) -> QColor:
    """Black or white, whichever is read better on a ground."""
    red, green, blue = ((part / 255) ** 2.2 for part in (ground.red(), ground.green(), ground.blue()))
    return QColor("#0d1017" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > _HALF_AS_LIGHT else "#ffffff")
