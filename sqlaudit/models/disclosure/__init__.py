"""Maximum disclosure: what an attacker with k pieces of knowledge can learn in the worst case, exactly.

Pure computation over the signatures of equivalence classes; no database, no terminal. Source: Martin, Kifer,
Machanavajjhala, Gehrke, Halpern, Worst-Case Background Knowledge for Privacy-Preserving Data Publishing, ICDE 2007.
"""

from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.by_class import ClassDisclosure, class_disclosure
from sqlaudit.models.disclosure.curve import Allocation, DisclosureCurve, DisclosurePoint, is_safe
from sqlaudit.models.disclosure.index import DisclosureIndex
from sqlaudit.models.disclosure.knowledge import Atom, BasicImplication, ContradictoryKnowledge, WhatIf, what_if
from sqlaudit.models.disclosure.program import maximum_disclosure
from sqlaudit.models.disclosure.witness import Person, RankedAtom, SimpleImplication, Witness, find_witness

__all__ = [
    "Allocation",
    "Atom",
    "BasicImplication",
    "ClassDisclosure",
    "ContradictoryKnowledge",
    "DisclosureCurve",
    "DisclosureIndex",
    "DisclosurePoint",
    "Person",
    "RankedAtom",
    "Signatures",
    "SimpleImplication",
    "WhatIf",
    "Witness",
    "class_disclosure",
    "find_witness",
    "is_safe",
    "maximum_disclosure",
    "what_if",
]
