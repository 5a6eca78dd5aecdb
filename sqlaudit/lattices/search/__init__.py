"""Searches over the generalization lattice: which nodes to ask about, and what follows from the answers.

Nothing here knows tables or SQL. A search asks for verdicts, many nodes at a time, and concludes from them only what
the requirements allow: see `choice` for which algorithm when, and `lattice` for the one entry point.
"""
