"""The classes that can take part in a worst case: few, however many there are.

A worst case with t atoms uses at most t classes. If a class takes part with j atoms, at most t - j others take part. So
of any t + 1 - j classes with the lowest M(j) at least one is unused, and can stand in for it without loss; class after
class, all that take part come from these lists. The same holds, with (n / r1) * M(j), for the class of the
consequent. The lists stay sufficient when that class is fixed to be any other one: it has an atom, so it is among the
t - j.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sqlaudit.base.frozen import dataclass
from sqlaudit.classes.signatures import Signatures
from sqlaudit.models.disclosure.lowest import Positions, Purpose, Wanted


@dataclass(frozen=True)
class Candidates:
    """The signatures that can take part in a worst case.

    positions: where they stand among the signatures they were chosen from, shape (C,).
    signatures: these alone. copies: how many classes of each may be needed to hold antecedents; 0 if none.
    own: whether one may hold the consequent.
    """

    positions: Positions
    signatures: Signatures
    copies: Positions
    own: NDArray[np.bool_]


def wanted_classes(atoms: int, slack: int = 0) -> list[Wanted]:
    """What is needed for up to `atoms` atoms, the consequent included: so other classes have at most atoms - 1.

    With `slack`, so many classes more in every list.
    """
    return [
        *(Wanted(Purpose.OTHERS, j, atoms + 1 - j + slack) for j in range(1, atoms)),
        *(Wanted(Purpose.OWN, j, atoms + 1 - j + slack) for j in range(1, atoms + 1)),
        *(Wanted(Purpose.NEGATED, j, 1 + slack) for j in range(1, atoms + 1)),
    ]


def gather(signatures: Signatures, found: Iterable[tuple[Wanted, Positions]]) -> Candidates:
    """The candidates in the lists for the first two roles."""
    copies: dict[int, int] = {}
    own: set[int] = set()
    for want, positions in found:
        for position in positions.tolist() if want.role is not Purpose.NEGATED else []:
            times = min(want.classes, int(signatures.multiplicity[position])) if want.role is Purpose.OTHERS else 0
            copies[position] = max(copies.get(position, 0), times)
            if want.role is Purpose.OWN:
                own.add(position)
    chosen = np.array(sorted(copies), dtype=np.int64)
    return Candidates(
        chosen,
        signatures.take(chosen),
        np.array([copies[position] for position in chosen.tolist()], dtype=np.int64),
        np.array([position in own for position in chosen.tolist()], dtype=np.bool_),
    )


def negated_maxima(signatures: Signatures, found: Iterable[tuple[Wanted, Positions]]) -> list[Fraction]:
    """The disclosure by 0, 1, 2, … negated atoms, "this person does not have that value", from the lists for them.

    The best use is to rule out the most frequent other values for one person, which leaves
    r1 / (n - r2 - … - r(k+1)). This is the attacker of l-diversity (Martin et al., section 4).
    """
    return [
        1 / min(want.exact(*signatures.signature(position)) for position in positions.tolist())
        for want, positions in found
        if want.role is Purpose.NEGATED
    ]
