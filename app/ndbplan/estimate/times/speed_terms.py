"""What makes one version faster than another, as terms of a derivation, and the slowest of several limits.

Source: the rows of resources/ndb/features.json that say what they make faster.
"""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.kept import kept_by_value
from ndbplan.base.quantity import Quantity, Term
from ndbplan.ndb.speed_changes import speed_change
from ndbplan.ndb.version import NdbVersion

_SPREAD = (
    "multithreaded_node",
    "larger_hash_map",
    "thread_config",
    "sixteen_ldm_threads",
    "fragment_log_parts",
    "thirty_two_ldm_threads",
    "placement_by_table",
    "automatic_threads",
)
"""Changes that decide how many LDM threads there are and what each of them holds."""


@kept_by_value(512)
def change_term(name: str, version: NdbVersion) -> Term:
    """A change of the product as a term: 1 when the version has it, 0 when it came later."""
    change = speed_change(name)
    since = " and ".join(change.since)
    return Term(
        f"since {since}: {change.what}",
        1.0 if change.is_in(version) else 0.0,
        "",
        f"product: {change.source} [{change.name}]",
    )


@kept_by_value(16)
def spread_terms(version: NdbVersion) -> tuple[Term, ...]:
    """What of the version decides how many LDM threads there are and how rows are spread over them."""
    return tuple(change_term(name, version) for name in _SPREAD)


@dataclass(frozen=True, slots=True)
class Limit:
    """One thing that bounds the duration of something."""

    name: str
    """`network of host db1`, `disk sda`."""
    duration_s: Quantity
    shorten: str = ""
    """What would make it shorter."""


def slowest(*limits: Limit, why: tuple[Term, ...] = ()) -> tuple[Quantity, Limit]:
    """The duration when several limits work at the same time, and the one that decides it.

    Low and high too are those of the slowest limit: no range reaches below what physics allows.
    """
    decides = max(limits, key=lambda limit: limit.duration_s.value)
    spans = [limit.duration_s for limit in limits]
    terms = (
        *(span.as_term(f"bound by {limit.name}") for limit, span in zip(limits, spans, strict=True)),
        *why,
        Term(f"limited by: {decides.name}", decides.duration_s.value, "s", "formula: the slowest decides"),
    )
    ends = max(span.low for span in spans), max(span.high for span in spans)
    return Quantity(decides.duration_s.value, *ends, "s", terms), decides
