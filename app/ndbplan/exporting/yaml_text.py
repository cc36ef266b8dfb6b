"""YAML files: a comment for people, then the document as the library writes it."""

from __future__ import annotations

from typing import Any

from ndbplan.base.quoting import comment_lines


class _Unsafe(str):
    """A text that Ansible takes as it is, template marks included."""


def yaml_text(document: Any, comment: str, *, for_ansible: bool = False) -> str:
    """The text of one YAML document, keys in their order.

    `for_ansible`: a text with a brace, which every template begins with, is tagged `!unsafe`. Ansible would
    run it on the control host otherwise, `{{ lookup('pipe', ...) }}` included.
    """
    import yaml

    # Made here, so that nothing of the library is changed: its class has no types to be derived from.
    base: Any = yaml.SafeDumper.increase_indent
    # Lists are indented below their keys, as ansible-lint wants them.
    indented = {"increase_indent": lambda self, flow=False, indentless=False: base(self, flow, False)}
    dumper: Any = type("_Dumper", (yaml.SafeDumper,), {"ignore_aliases": lambda *_: True, **indented})
    dumper.add_representer(_Unsafe, lambda dump, text: dump.represent_scalar("!unsafe", str(text)))
    body: str = yaml.dump(
        _tagged(document) if for_ansible else document,
        Dumper=dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    return f"{comment_lines(comment)}\n---\n{body}"


def _tagged(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tagged(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_tagged(one) for one in value]
    return _Unsafe(value) if isinstance(value, str) and "{" in value else value
