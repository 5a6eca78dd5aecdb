"""Worst-case disclosure from Python: the curve of a table, and what follows from stated knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.audits.disclosure.request import DisclosureRequest
from sqlaudit.audits.disclosure.results import DisclosureResult
from sqlaudit.audits.disclosure.run import find_disclosure
from sqlaudit.audits.disclosure.what_if import WhatIfResult, answer, load_knowledge, read_knowledge
from sqlaudit.base.options import request_from, wrong_types_told
from sqlaudit.base.spec import Buckets, Folding, Limits, NullPolicy, ReadOptions, Roles, make_target, roles_from
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database
from sqlaudit.models.disclosure.witness import DEFAULT_LIMIT


@wrong_types_told
def disclosure_curve(
    target: Any = None,
    *,
    qi: Sequence[str] | str = (),
    sensitive: Sequence[str] | str = (),
    knowledge: int = 12,
    threshold: Decimal | Fraction | int | None = None,
    witness: int | None = None,
    weakest: int = 5,
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    values: Folding | str | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    show_values: bool = False,
) -> DisclosureResult:
    """The worst that an attacker with 0 … `knowledge` pieces of knowledge can learn from a table.

    Args:
        target, qi, sensitive, entity, joint, nulls, db, query, where, read, buckets, limits: as for `sqlaudit.audit`.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.
        knowledge: the largest number of pieces of knowledge, 200 at most.
        threshold: a probability that should not be reached; an exact number, not a float.
        witness: for how many pieces of knowledge a proof is wanted. Any other is at `result.disclosure.witness(k)`.
        weakest: how many kinds of weakest classes are told.
        show_values: whether quasi-identifier and sensitive values may be read for the result.
        values: `fold` or `exact`: whether persons and sensitive values that differ only in case, blanks, width or
            characters without a picture are one; where some do, it has to be said.

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
    chosen_roles = roles_from(locals(), passed_over=("identifiers",))
    chosen = make_target(target, query=query, where=where, read=read, buckets=buckets)
    request = request_from(DisclosureRequest, locals(), target=chosen, roles=chosen_roles)
    with opened(db, limits, chosen) as engine:
        return find_disclosure(engine, request)


@wrong_types_told
def what_if(
    target: Any = None,
    *,
    qi: Sequence[str] | str = (),
    sensitive: Sequence[str] | str = (),
    given: Mapping[str, Any] | str | Path,
    entity: str | None = None,
    joint: bool = False,
    nulls: NullPolicy | str = NullPolicy.EQUAL,
    values: Folding | str | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
    db: Database = None,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    show_values: bool = False,
    terms: int = DEFAULT_LIMIT,
) -> WhatIfResult:
    """How probable statements about named persons are, given basic implications about them; exactly.

    Args:
        target, qi, sensitive, entity, joint, nulls, db, query, where, read, buckets, limits: as for `sqlaudit.audit`.
        roles: the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.
        given: people, knowledge and what to ask, as a mapping or a YAML file of the same shape (docs/disclosure.md).
        show_values: whether persons and values are repeated in the result.
        terms: conjunctions that may be held at once; knowledge that needs more is refused.
        values: `fold` or `exact`: whether persons and sensitive values that differ only in case, blanks, width or
            characters without a picture are one; where some do, it has to be said.

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
    known = read_knowledge(given) if isinstance(given, Mapping) else load_knowledge(given)
    chosen_roles = roles_from(locals(), passed_over=("identifiers",))
    chosen = make_target(target, query=query, where=where, read=read, buckets=buckets)
    with opened(db, limits, chosen) as engine:
        return answer(engine, chosen, chosen_roles, known, show_values, terms)
