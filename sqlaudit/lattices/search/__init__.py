"""Searches over the generalization lattice: which nodes to ask about, and what follows from the answers.

Nothing here knows tables or SQL. A search asks for verdicts, many nodes at a time, and concludes from them only what
the requirements allow. `lattice` is the entry point, and `choice` selects the algorithm. Where all nodes fit in memory,
`tagging` keeps what is known of them and `steps` asks; beyond that `border` keeps what is known, and `bounds` (the best
node) or `minimal` (all minimal nodes) asks, and `local` finds a good node early. `loss` and `inquiry` serve both.
"""
