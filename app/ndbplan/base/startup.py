"""What makes every start of the program quicker, window and commands alike."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any


def ease_pydantic() -> None:
    """Import pydantic's core without what only plug-ins and type checkers need; call it before pydantic.

    Looking for plug-ins would load importlib.metadata, and with that the mail parser, only to learn that they
    are switched off. The types of its schemas, which no running program reads, would parse a thousand
    annotations. When pydantic is laid out otherwise than here, only that time is lost.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    name = "pydantic.plugin._loader"
    if os.environ["PYDANTIC_DISABLE_PLUGINS"] == "__all__" and name not in sys.modules:
        loader = ModuleType(name)
        loader.get_plugins = tuple  # type: ignore[attr-defined]
        sys.modules[name] = loader
    if "pydantic_core" not in sys.modules:
        _import_core()


def _import_core() -> None:
    import typing

    import typing_extensions

    kept = typing.TypedDict, typing_extensions.TypedDict
    typing.TypedDict = typing_extensions.TypedDict = _Unread  # type: ignore[assignment]  # for one import
    try:
        import pydantic_core  # noqa: F401 — loading it is the aim
    finally:
        typing.TypedDict, typing_extensions.TypedDict = kept


class _Unread(dict[str, Any]):
    """Base in the place of TypedDict: the class says nothing of its keys."""

    def __init_subclass__(cls, total: bool = True) -> None:
        pass
