"""PostgreSQL: one read-only snapshot, nothing created."""
