"""Local recoding: equivalence classes are merged (KACA) or split (Mondrian) until every group satisfies what is
required.

Everything is decided on classes: codes of their values, rows, and counts of sensitive values. Rows stay in the
database.
"""
