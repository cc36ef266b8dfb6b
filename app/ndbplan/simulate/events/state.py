"""A run that events change: its arrays, who is alive, and what is still to happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.simulate.events.outage import Outage
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.series import Restart
from ndbplan.simulate.world import Node, Part, Rows, column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ndbplan.simulate.arrays import Arrays
    from ndbplan.simulate.model.page_cache import PageCache
    from ndbplan.simulate.model.scenario import Scenario

    Floats = NDArray[np.float64]


@dataclass
class World:
    """A run that events change: its scenario's arrays and its state."""

    scenario: Scenario
    arrays: Arrays
    full_load: Floats
    """Log of each part for one transaction while every node lives."""
    grown_load: Floats
    grown_share: Floats
    grown_nodes: Rows[Node]
    """The same, the shares of parts and the nodes' columns once added nodes have their rows."""
    offered: Floats
    """What clients offer in each step without events."""
    grown_cache: PageCache | None
    """The page cache once added nodes have their rows."""
    clients: float
    """How many there are without events; 0: no limit."""
    outage: Outage
    bursts: dict[int, float] = field(default_factory=dict)
    """Factor of each burst under way, by the number of its event."""
    made_at_death: dict[int, float] = field(default_factory=dict)
    copy_goal: dict[int, float] = field(default_factory=dict)
    now_s: float = 0.0
    """The step that runs."""
    at_s: float = 0.0
    """The moment of the change that is made; steps round it."""
    waiting: list[Change] = field(default_factory=list)
    restarts: list[Restart] = field(default_factory=list)
    happened: list[tuple[float, str]] = field(default_factory=list)

    def result(self) -> SimulationResult:
        """What the run found so far."""
        return SimulationResult.of(
            self.scenario,
            self.arrays,
            tuple(self.happened),
            tuple(self.restarts),
            self.outage.stop_with_restart(),
            self.outage.down_times(),
        )

    def node(self, object_id: str) -> int:
        """Index of a data node; -1 when it takes no part."""
        for n, node_class in enumerate(self.scenario.node_classes):
            if node_class.nodes[0].id == object_id:
                return n
        return -1

    def disk(self, object_id: str) -> int:
        """Index of a disk; -1 when no data node uses it."""
        for d, disk_class in enumerate(self.scenario.disk_classes):
            if any(disk.id == object_id for disk in disk_class.disks):
                return d
        return -1

    def forget_room(self) -> None:
        """Disks have other work from now on: what they wrote last step is no measure any more."""
        limits = column(self.scenario.nodes, lambda node: node.buffer_limit_bytes)[:, None]
        self.arrays.parts[Part.LIMIT] = np.broadcast_to(limits, self.scenario.load.shape)

    def is_dead(self, n: int) -> bool:
        """Whether a data node takes no part."""
        return bool(self.arrays.node_state[n].is_dead)

    def later(self, *changes: Change) -> None:
        """Let something change at a later moment, or at the end of this one."""
        self.waiting = sorted([*self.waiting, *changes], key=Change.order)

    def note_settings(self) -> None:
        """Remember the settings of the run from now on."""
        self.arrays.settings.append((self.now_s, self.scenario.run.copy()))

    def say(self, text: str) -> None:
        """Note what happened now."""
        self.happened.append((self.now_s, text))


Action = Callable[[World], "bool | None"]
"""Changes a run; False: there was nothing to change, and nothing is noted."""


@dataclass(frozen=True)
class Change:
    """Something that changes at a moment."""

    at_s: float
    text: str
    action: Action
    last: bool = False
    """After everything else of the same moment: what fails at one moment fails at once."""
    of_cluster: bool = True
    """It concerns the data nodes: nothing of it happens after the cluster stopped."""

    def order(self) -> tuple[float, bool]:
        """Changes are made in this order; those that are equal as they were asked for."""
        return self.at_s, self.last
