"""Profiles of tables: facts of columns, proposed roles, and the warnings of an audit."""
