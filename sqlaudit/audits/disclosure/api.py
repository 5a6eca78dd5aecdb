"""Worst-case disclosure from Python: the curve of a table, and what follows from stated knowledge."""

from __future__ import annotations

from sqlaudit.audits.disclosure.request import DisclosureRequest, WhatIfRequest
from sqlaudit.audits.disclosure.results import DisclosureResult
from sqlaudit.audits.disclosure.run import find_disclosure, plan_disclosure
from sqlaudit.audits.disclosure.what_if import WhatIfResult, answer, plan_answers
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine


@command(DisclosureRequest, plan_disclosure)
def disclosure_curve(engine: Engine, request: DisclosureRequest) -> DisclosureResult:
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
    return find_disclosure(engine, request)


@command(WhatIfRequest, plan_answers)
def what_if(engine: Engine, request: WhatIfRequest) -> WhatIfResult:
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
    return answer(engine, request)
