"""What travels inside files that leave the program, so that they can be opened and checked: the plan, and
what was asked of it.

svg_carrying(drawing, picture_evidence(Project.of(plan), {"look": "dark"}))
"""

from __future__ import annotations

import hashlib
import json
from html import escape
from typing import Any

import ndbplan
from ndbplan.plan.file import from_document
from ndbplan.plan.project import Project
from ndbplan.plan.project_json import to_json

FORMAT = 1
NAME = "ndbplan-evidence"
"""What it is called in a picture."""
SVG_OPENING, SVG_CLOSING = f'<metadata id="{NAME}">', "</metadata>"
PRICES = frozenset(("purchase_price", "monthly_price", "licence_per_month", "price_per_kwh"))
"""Fields of a plan that say what something costs."""


def without_prices(project: Project) -> Project:
    """The project with no price stated."""
    return from_document(_stripped(to_json(project)), name="plan")


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(one) for key, one in value.items() if key not in PRICES}
    return [_stripped(one) for one in value] if isinstance(value, list) else value


def digest(answer: Any) -> str:
    """SHA-256 of an answer in one spelling of JSON."""
    text = json.dumps(answer, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def dumps(evidence: dict[str, Any]) -> str:
    """As it stands in a file: nothing in it can end an HTML element or a comment."""
    text = json.dumps(evidence, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def picture_evidence(project: Project, drawn: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """What travels in a picture. `drawn`: how it is drawn again; `options`: those of a report, where stated.

    Most of a plan is not seen in a picture: its digest says that it is the plan that was drawn.
    """
    plan = None if options.get("without") == "plan" else to_json(project)
    return {
        "format": FORMAT, "program": ndbplan.__version__, "options": options, **drawn,
        "digests": {} if plan is None else {"plan": digest(plan)}, "plan": plan,
    }  # fmt: skip


def svg_carrying(drawing: str, told: str) -> str:
    """An SVG with a text inside that no viewer shows."""
    place = drawing.index(">", drawing.index("<svg")) + 1
    return f"{drawing[:place]}{SVG_OPENING}{escape(told)}{SVG_CLOSING}{drawing[place:]}"
