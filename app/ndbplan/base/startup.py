"""What makes every start of the program quicker, window and commands alike."""

from __future__ import annotations

import os
import sys
from types import ModuleType


def without_pydantic_plugins() -> None:
    """Let pydantic look for no plug-ins: call it before the first import of pydantic.

    It would load importlib.metadata, and with that the mail parser, only to learn that plug-ins are switched
    off. When pydantic is laid out otherwise than here, only that time is lost.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    name = "pydantic.plugin._loader"
    if os.environ["PYDANTIC_DISABLE_PLUGINS"] == "__all__" and name not in sys.modules:
        loader = ModuleType(name)
        loader.get_plugins = tuple  # type: ignore[attr-defined]
        sys.modules[name] = loader
