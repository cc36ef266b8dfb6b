"""What all items of a scene share: theme, loads, colouring, and from how far they are seen."""

from __future__ import annotations

import math

from ndbplan.describe.colouring import NOTHING, Colouring
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.desktop.layout.cards import Chip
from ndbplan.desktop.look.theme import DARK, Tokens

FAR = 0.42
"""Below this zoom a host is drawn without text and its chips and tiles as marks."""
NUMBERS_FROM = 0.26
"""From this zoom up the marks carry node ids and percentages."""
LEAST_PX = 9.0
"""Of a text on the screen: what would be smaller is enlarged as far as there is room, else left out."""
_TITLE_PX, _TITLE_ON_SCREEN_PX, TITLE_LARGEST_PX = 14, 11.0, 34
"""Of the name of a location, in the scene: near, so that it can be read farther away, and at most."""


class Look:
    """Of one scene."""

    def __init__(self) -> None:
        self.tokens: Tokens = DARK
        self.loads: Loads = NO_LOADS
        self.colouring: Colouring = NOTHING
        self.zoom = 1.0
        self.keeps_pixels = False
        """Whether hosts keep their pixels between paints: for a screen, not for a drawing in vectors."""

    @property
    def is_far(self) -> bool:
        """Whether the canvas is seen from so far that text is left out."""
        return self.zoom < FAR

    @property
    def shows_tiles(self) -> bool:
        """Whether a host is one tile: far away, or less far where the tile has something to say."""
        return self.is_far and (bool(self.colouring.name) or self.zoom < NUMBERS_FROM)

    def px(self, size: int, largest: int) -> int:
        """Size in the scene of a text of this size, so that it can be read; 0: its place has no room."""
        wanted = max(size, math.ceil(LEAST_PX / self.zoom))
        return wanted if wanted <= largest else 0

    @property
    def names_stand_apart(self) -> bool:
        """Whether names of locations no longer fit into their frames, and stand over them."""
        return self.zoom * TITLE_LARGEST_PX < LEAST_PX

    @property
    def title_px(self) -> int:
        """Size of the name of a location in the scene: it can be read from as far as its room allows."""
        return min(max(_TITLE_PX, round(_TITLE_ON_SCREEN_PX / self.zoom)), TITLE_LARGEST_PX)


def process_colour(chip: Chip, t: Tokens) -> str:
    """Colour of a chip: by node group for data nodes, by kind for the others."""
    if chip.kind == "data":
        return t.muted if chip.group is None else t.group(chip.group)
    return {"management": t.good, "sql": t.violet}.get(chip.kind, t.muted)
