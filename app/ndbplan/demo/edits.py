"""Functions from demo to demo: what the window does with scenes."""

from __future__ import annotations

from ndbplan.base.errors import UserError
from ndbplan.demo.model import MOST_SCENES, Demo, Scene


def added(demo: Demo, scene: Scene, place: int) -> Demo:
    """With one more scene at this place. Raises UserError for one too many."""
    if len(demo.scenes) >= MOST_SCENES:
        raise UserError(f"a demo has {MOST_SCENES} scenes at most", where="scenes", fix="delete one")
    return _with(demo, (*demo.scenes[:place], scene, *demo.scenes[place:]))


def moved(demo: Demo, place: int, by: int) -> Demo:
    """With a scene so many places later, or earlier; as far as there are places."""
    scenes = [*demo.scenes]
    scene = scenes.pop(place)
    scenes.insert(max(0, min(len(scenes), place + by)), scene)
    return _with(demo, tuple(scenes))


def renamed(demo: Demo, place: int, title: str, text: str) -> Demo:
    """With another title and text of a scene. Raises ValidationError for one that is too long, or none."""
    scene = Scene.model_validate(demo.scenes[place].model_dump() | {"title": title, "text": text})
    return _with(demo, (*demo.scenes[:place], scene, *demo.scenes[place + 1 :]))


def without(demo: Demo, place: int) -> Demo:
    """Without a scene."""
    return _with(demo, (*demo.scenes[:place], *demo.scenes[place + 1 :]))


def _with(demo: Demo, scenes: tuple[Scene, ...]) -> Demo:
    return demo.model_copy(update={"scenes": scenes})
