"""The audit of one table, and worst-case disclosure of tables."""
