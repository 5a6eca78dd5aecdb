"""Maximum disclosure: what an attacker with k pieces of knowledge can learn in the worst case, exactly.

Pure computation over the signatures of equivalence classes; no database, no terminal. Source: Martin, Kifer,
Machanavajjhala, Gehrke, Halpern, Worst-Case Background Knowledge for Privacy-Preserving Data Publishing, ICDE 2007.
"""
