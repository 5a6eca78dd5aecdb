"""Worst-case disclosure from Python: the curve of a table, and what follows from stated knowledge."""

from __future__ import annotations

from collections.abc import Mapping

from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.audits.disclosure.results import DisclosureResult
from sqlaudit.audits.disclosure.run import find_disclosure
from sqlaudit.audits.disclosure.what_if import WhatIfResult, answer, load_knowledge, read_knowledge
from sqlaudit.base.options import REQUIRED, WHOLE, Given, request_from, takes
from sqlaudit.base.spec import Roles, roles_from, target_of
from sqlaudit.engines import opened
from sqlaudit.models.disclosure.witness import DEFAULT_LIMIT


@takes(
    "target * qi sensitive knowledge threshold witness weakest entity joint nulls values roles db query where read "
    "buckets limits show_values",
    *(DisclosureRequest, Roles),
    knowledge=("int", 12),
)
def disclosure_curve(given: Given) -> DisclosureResult:
    """The worst that an attacker with 0 … `knowledge` pieces of knowledge can learn from a table.

    Args:
        knowledge: the largest number of pieces of knowledge, 200 at most.
        threshold: a probability that should not be reached; an exact number, not a float.
        witness: for how many pieces of knowledge a proof is wanted. Any other is at `result.disclosure.witness(k)`.
        show_values: whether quasi-identifier and sensitive values may be read for the result.

    Raises:
        UsageError: a column or number that does not fit, or persons with several classes or values.
        EngineError: the database refused, failed or went away.

    Source: Martin et al., Worst-Case Background Knowledge for Privacy-Preserving Data Publishing, ICDE 2007.

    Example:
        >>> import pandas as pd
        >>> rooms = pd.DataFrame({"sex": list("mmmmmfffff"), "disease": list("ffccmffbho")})
        >>> found = disclosure_curve(rooms, qi=["sex"], sensitive="disease", knowledge=2)
        >>> [str(value) for value in found.disclosure.curve]
        ['2/5', '2/3', '1']
    """
    chosen_roles = roles_from(vars(given), passed_over=("identifiers",))
    chosen = target_of(given)
    request = request_from(DisclosureRequest, vars(given), target=chosen, roles=chosen_roles)
    with opened(given.db, given.limits, chosen) as engine:
        return find_disclosure(engine, request)


@takes(
    "target * qi sensitive given entity joint nulls values roles db query where read buckets limits show_values terms",
    Roles,
    given=("Mapping[str, Any] | str | Path", REQUIRED),
    show_values=("bool", False),
    terms=("int", DEFAULT_LIMIT),
)
def what_if(given: Given) -> WhatIfResult:
    """How probable statements about named persons are, given basic implications about them; exactly.

    Args:
        given: people, knowledge and what to ask, as a mapping or a YAML file of the same shape (docs/disclosure.md).
        show_values: whether persons and values are repeated in the result.
        terms: conjunctions that may be held at once; knowledge that needs more is refused.

    Raises:
        ContradictoryKnowledge: the knowledge can not be true of this table.
        UsageError: a person or value that the table does not have, or knowledge that is too long.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> rooms = pd.DataFrame({"sex": list("mmmmmfffff"), "disease": list("ffccmffbho")})
        >>> found = what_if(rooms, qi=["sex"], sensitive="disease", given={
        ...     "people": {"Hannah": {"sex": "f"}, "Charlie": {"sex": "m"}},
        ...     "knowledge": [{"if": {"Hannah": "f"}, "then": {"Charlie": "f"}}],
        ...     "ask": {"Charlie": "f"},
        ... })
        >>> str(found.answers[0].probability)
        '10/19'
    """
    knowledge = read_knowledge(given.given) if isinstance(given.given, Mapping) else load_knowledge(given.given)
    chosen_roles = roles_from(vars(given), passed_over=("identifiers",))
    chosen = target_of(given)
    with opened(given.db, given.limits, chosen) as engine:
        return answer(engine, chosen, chosen_roles, knowledge, given.show_values, WHOLE.read("terms", given.terms))
