"""my.cnf for each SQL host: connect string, node ids, connection pool."""

from __future__ import annotations

from ndbplan.configuration.deployment import connect_string, mysqld_instance, sql_files, sql_hosts
from ndbplan.configuration.mysqld import mysqld_options, option_line
from ndbplan.configuration.own_options import OWN_OPTIONS_FOLDER, has_own_options
from ndbplan.exporting.templates import render
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode


def render_my_cnf(plan: Plan) -> dict[str, str]:
    """The text of my.cnf by host name."""
    return {
        host.hostname: render(
            "my.cnf.j2",
            plan=plan,
            host=host,
            connect_string=connect_string(plan),
            instances=[_instance(plan, node) for node in nodes],
            own_options=OWN_OPTIONS_FOLDER if has_own_options(plan, host) else "",
        )
        for host, nodes in sql_hosts(plan)
    }


def _instance(plan: Plan, node: SqlNode) -> dict[str, object]:
    return {
        "group": f"mysqld{mysqld_instance(plan, node)}",
        "options": [option_line(*option) for option in mysqld_options(plan, node).items()],
        "node_id": node.node_id,
        "socket": sql_files(plan, node).socket,
    }
