"""What clients meet where the redo log does not keep up: errors at once, or work that waits.

    seen_as(plan, 1221)      # 266 where work waits, which is the default from 7.4 on

Source: running 8.4.8 and 7.4.10 clusters. With DefaultOperationRedoProblemAction=queue, the default, neither
1221 nor 1234 was seen: work stands still for seconds, and is given up with 266 after
TransactionDeadlockDetectionTimeout. 410 comes either way. 1220 was not tried so; Dblqh queues work whatever
problem a log part has, and a simulation does too.
"""

from __future__ import annotations

from ndbplan.configuration.settings import settings_from
from ndbplan.plan.fields import NO_PARAMETERS
from ndbplan.plan.plan import Plan

QUEUED_TIMEOUT = 266
"""What a queued operation ends with; SQL clients see 1205."""
_QUEUED = (1220, 1221, 1234)
"""The next file, the buffer, the lag of the disk."""


def queues(plan: Plan) -> bool:
    """Whether work waits for redo (DefaultOperationRedoProblemAction of SQL nodes and API slots)."""
    name = "DefaultOperationRedoProblemAction"
    own = [*plan.sql_nodes, *plan.api_slots]
    stated = [settings_from("API", NO_PARAMETERS, node.parameters, plan.ndb_version) for node in own]
    stated.append(settings_from("API", plan.parameters.sql, NO_PARAMETERS, plan.ndb_version))
    found = (one.text(name) == "queue" for one in stated if one.states(name))
    return next(found, plan.features.redo_problems_queued)


def seen_as(plan: Plan, code: int) -> int:
    """The error that clients get where data nodes meet this one."""
    return QUEUED_TIMEOUT if code in _QUEUED and queues(plan) else code
