"""Installation checks for operators: findings in servers, nodes, settings and rows, and what to do."""
