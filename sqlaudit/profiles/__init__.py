"""Looking at a table before anything is known about it: column facts, proposed roles, and the warnings of an audit."""
