"""The measured facts: published articles and what a running cluster answered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
FILES = ("published.json", "cluster-7.4.10.json")


@dataclass(frozen=True)
class Fact:
    """One measured number."""

    id: str
    article: str
    """Where it was published."""
    inputs: dict[str, Any]
    value: float
    unit: str
    low: float | None
    """Ends of what was measured, when it was a range."""
    high: float | None


@cache
def facts() -> dict[str, Fact]:
    """All facts by id, in file order."""
    found = {}
    for name in FILES:
        document = json.loads((FOLDER / name).read_text(encoding="utf-8"))
        for row in document["facts"]:
            measured = row["measured"]
            found[row["id"]] = Fact(
                id=row["id"],
                article=document["articles"][row["article"]],
                inputs=row["inputs"],
                value=float(measured["value"]),
                unit=measured["unit"],
                low=measured.get("low"),
                high=measured.get("high"),
            )
    return found
