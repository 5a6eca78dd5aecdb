"""Ways to make a table safe that decide on patterns and counts, and rewrite rows by SQL where they lie."""
