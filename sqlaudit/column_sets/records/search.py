"""Per-record uniqueness: minimal sample uniques, SUDA scores and individual risk, aggregated in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Target
from sqlaudit.base.sql import Raw
from sqlaudit.base.words import spelled
from sqlaudit.column_sets.coding import Coded, code_columns, drop_codes, on_target
from sqlaudit.column_sets.counting import SetCounter
from sqlaudit.column_sets.masks import bits, names
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import IndividualRisk, RecordRisk, TopRecord
from sqlaudit.column_sets.records.risks import (
    RiskSource,
    check_weights_of,
    household_risk,
    individual_risk,
    people_of_a_row,
)
from sqlaudit.column_sets.records.scores import contributions, file_dis, scores_of, suda_weight
from sqlaudit.column_sets.records.uniques import Uniques
from sqlaudit.column_sets.selection import Chosen, choose_column, choose_columns
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.provenance import provenance

DEFAULT_FRACTION = Fraction(1, 100)
"""Of DIS-SUDA, where none is named."""
_SETS = 50


def find_records(engine: Engine, target: Target | Relation, request: RecordRequest) -> RecordRisk:
    """Tell which records are special: unique on few columns, and likely to be found in the population.

    Args:
        engine: an open engine. target: what is looked at. request: which columns, and how far.

    Raises:
        UsageError: an unknown column, no quasi-identifier, weights that are missing or stand for too few people.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.engines import connect
        >>> people = pd.DataFrame({"zip": [1, 1, 2], "sex": list("fff"), "job": list("aab")})
        >>> with connect() as engine:
        ...     found = find_records(engine, Target(frame=people), RecordRequest(("zip", "sex", "job")))
        >>> found.records, found.uniques_by_size, [columns for columns, _ in found.by_set]
        (1, (2, 0, 0), [('zip',), ('job',)])
    """
    if not request.qi:
        raise UsageError(f"Name the quasi-identifiers with {spelled('qi')}.")
    already = len(engine.executed)
    relation = engine.open(target) if isinstance(target, Target) else target
    chosen = choose_columns(relation, engine.dialect, request.qi, field="qi")
    size = min(request.max_size, len(chosen))
    kept = _kept(relation, engine, chosen, request.key) if request.show_values else ()
    weight = choose_column(relation, engine.dialect, request.weights, "weights") if request.weights else None
    home = choose_column(relation, engine.dialect, request.household, "household") if request.household else None
    try:
        coded = code_columns(engine, relation, chosen, None, kept)
        if weight is not None:
            check_weights_of(engine, relation, weight)
        source = RiskSource(engine, relation, chosen, Raw(weight.sql) if weight else people_of_a_row(request), request)
        risk = individual_risk(source, coded)
        homes = household_risk(source, home) if home else None
        found = _records(engine, relation, request, chosen, coded, size, kept, risk)
        of_sample = weight is None and request.sampling_fraction is not None
        found = replace(found, weights=request.weights, of_sample=of_sample, household=homes)
        return replace(found, **provenance(engine, already))
    finally:
        drop_codes(engine)


def plan_records(engine: Engine, relation: Relation, request: RecordRequest) -> list[Statement]:
    """The question for minimal sample uniques as one statement that stands alone, for `--dry-run`.

    Raises:
        UsageError: an unknown column.
    """
    chosen = choose_columns(relation, engine.dialect, request.qi, field="qi")
    width = len(chosen)
    coded = Coded(Raw(relation.sql), tuple(Raw(one.sql) for one in chosen), None, 0, 0, (1,) * width)
    return [
        Uniques(engine, coded, min(request.max_size, width)).statement("column_sets/records/records_signatures.sql")
    ]


def _kept(relation: Relation, engine: Engine, chosen: Sequence[Chosen], key: Sequence[str]) -> tuple[Chosen, ...]:
    return choose_columns(relation, engine.dialect, key, field="key") if key else tuple(chosen)


def _records(
    engine: Engine,
    relation: Relation,
    request: RecordRequest,
    chosen: Sequence[Chosen],
    coded: Coded,
    size: int,
    kept: Sequence[Chosen],
    risk: IndividualRisk,
) -> RecordRisk:
    columns, width = tuple(one.name for one in chosen), len(chosen)
    whole = SetCounter(engine, coded, 3, request.nulls).figures([(1 << width) - 1])[0]
    unique, paired = whole.unique, whole.at_risk - whole.unique
    fraction = request.sampling_fraction or DEFAULT_FRACTION
    dis = file_dis(unique, paired, fraction)
    cells = [Raw(one.sql) for one in kept]
    uniques = Uniques(coded.engine or engine, coded, size, cells)
    try:
        signatures, by_set = uniques.signatures(), uniques.by_set()
        weights = [suda_weight(k, width, size) for k in range(1, size + 1)]
        shown = uniques
        if coded.engine is not None:  # cells are read where they lie
            shown = Uniques(engine, on_target(coded, relation, chosen, None), size, cells)
        top = shown.top(request.top, weights) if request.show_values and request.top else []
    finally:
        uniques.close()
    scores = scores_of(signatures, width, size, unique, dis)
    ranked = sorted(signatures, key=lambda signature: (-scores[signature].suda, [-count for count in signature]))
    sizes = tuple(sum(n * signature[k] for signature, n in signatures.items()) for k in range(size))
    often = sorted(by_set, key=lambda mask: (-by_set[mask], mask.bit_count(), bits(mask)))[:_SETS]
    return RecordRisk(
        target=relation.label,
        columns=columns,
        rows=coded.rows,
        unique_rows=unique,
        paired_rows=paired,
        max_size=size,
        nulls=request.nulls.value,
        fraction=fraction,
        file_dis=dis,
        uniques_by_size=sizes,
        records=sum(signatures.values()),
        scores=tuple((s, signatures[s], scores[s]) for s in ranked),
        contributions=tuple(zip(columns, contributions(by_set, width, size), strict=True)),
        by_set=tuple((names(mask, columns), by_set[mask]) for mask in often),
        risk=risk,
        top=tuple(TopRecord(values, s, scores[s]) for values, s in top),
        key=tuple(one.name for one in kept),
    )
