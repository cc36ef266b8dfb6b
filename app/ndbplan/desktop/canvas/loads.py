"""Loads: what the estimates say about each thing on the canvas, ready to be painted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Loads:
    """Utilisations as fractions and the worst problem, by object id; what is unknown is not in there."""

    disks: Mapping[str, float] = field(default_factory=dict)
    cpu: Mapping[str, float] = field(default_factory=dict)
    """By host id."""
    memory: Mapping[str, float] = field(default_factory=dict)
    """By host id."""
    redo_buffers: Mapping[str, float] = field(default_factory=dict)
    """Fullest redo buffer of a data node, by process id; only while a simulation is replayed."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Severity of the worst problem that names the object."""


NO_LOADS = Loads()
