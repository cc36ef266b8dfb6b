"""YAML files: a comment for people, then the document as the library writes it."""

from __future__ import annotations

from typing import Any

from ndbplan.base.quoting import comment_lines


def yaml_text(document: Any, comment: str) -> str:
    """The text of one YAML document, keys in their order."""
    import yaml

    body: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return f"{comment_lines(comment)}\n---\n{body}"
