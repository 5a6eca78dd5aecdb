"""Worst-case disclosure of tables in databases: from a request and an engine to curves, witnesses and answers."""
