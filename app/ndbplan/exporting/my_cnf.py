"""my.cnf for each SQL host: connect string, node ids, connection pool."""

from __future__ import annotations

from ndbplan.configuration.deployment import connect_string, mysqld_instance, sql_files, sql_hosts
from ndbplan.exporting.templates import render
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode, process_node_ids


def render_my_cnf(plan: Plan) -> dict[str, str]:
    """The text of my.cnf by host name."""
    return {
        host.hostname: render(
            "my.cnf.j2",
            plan=plan,
            host=host,
            connect_string=connect_string(plan),
            instances=[_instance(plan, node) for node in nodes],
        )
        for host, nodes in sql_hosts(plan)
    }


def _instance(plan: Plan, node: SqlNode) -> dict[str, object]:
    suffix = mysqld_instance(plan, node)
    options: list[str] = []
    ids = process_node_ids(node)
    if len(ids) == 1:
        options.append(f"ndb-nodeid={node.node_id}")
    else:
        options.append(f"ndb-cluster-connection-pool={len(ids)}")
        if plan.features.pool_node_ids:
            options.append(f"ndb-cluster-connection-pool-nodeids={','.join(map(str, ids))}")
        else:
            options.append(f"ndb-nodeid={node.node_id}")
    files = sql_files(plan, node)
    options += [
        f"port={files.port}",
        f"datadir={files.data_dir}",
        f"socket={files.socket}",
        f"log-error={files.error_log}",
        f"pid-file={files.pid_file}",
    ]
    return {"group": f"mysqld{suffix}", "options": options, "node_id": node.node_id, "socket": files.socket}
