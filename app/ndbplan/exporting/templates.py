"""Templates of exported files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ndbplan.base.quoting import ascii_text, comment_lines, markdown_text, shell_quoted
from ndbplan.base.resources import resource_path
from ndbplan.base.units import how_many

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resource_path("templates")),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        shell=shell_quoted,
        comment=comment_lines,
        ascii=ascii_text,
        markdown=markdown_text,
        how_many=how_many,
    )
    return environment


def render(template: str, **values: Any) -> str:
    """The text of one template in resources/templates."""
    return _environment().get_template(template).render(**values)
