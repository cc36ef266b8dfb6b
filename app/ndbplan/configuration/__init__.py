"""What the cluster is told, and what its parts mean to one another: between the plan and the estimates."""
