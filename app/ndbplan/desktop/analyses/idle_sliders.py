"""Sliders of the conditions of an operation that change nothing, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.times.restart import Conditions

_AT_REST: dict[str, Any] = {"disk_factor": 1.0, "ldm_threads": None, "traffic_factor": 1.0}
"""Each slider where it changes nothing."""
_SLIDERS = {
    "disk_factor": "the speed of the disks",
    "ldm_threads": "LDM threads",
    "traffic_factor": "the load",
}
_SAME = 0.002
"""Share of a time below which nobody sees that it has changed."""


def idle_sliders(now: Estimation, conditions: Conditions) -> list[str]:
    """Which sliders were moved and change no node restart, and what it waits for instead."""
    try:
        moved = now.restart("node", conditions=conditions)
        sliders = []
        for name, at_rest in _AT_REST.items():
            if getattr(conditions, name) == at_rest:
                continue
            plain = now.restart("node", conditions=replace(conditions, **{name: at_rest}))
            if abs(plain.duration_s.value - moved.duration_s.value) <= _SAME * plain.duration_s.value:
                longest = max(moved.phases, key=lambda phase: phase.duration_s.value)
                sliders.append(
                    f"Node restart: {_SLIDERS[name]} changes nothing here; its longest phase, "
                    f"{longest.name}, is bound by {longest.bound}"
                )
    except UserError:
        return []
    return sliders
