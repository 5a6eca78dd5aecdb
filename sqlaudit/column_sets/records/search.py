"""Single records: minimal sample uniques, SUDA scores, individual and household risk, added up in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import Given, request_from, takes
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation, Row, Statement
from sqlaudit.base.spec import Target, roles_from, target_of
from sqlaudit.base.sql import Raw, render
from sqlaudit.column_sets.counting import (
    Chosen,
    Coded,
    SetCounter,
    choose_column,
    choose_columns,
    code_columns,
    code_names,
    drop_codes,
    on_target,
)
from sqlaudit.column_sets.masks import bits, mask_of, names
from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import (
    HouseholdRisk,
    IndividualRisk,
    RecordRisk,
    RiskThreshold,
    Scores,
    Signature,
    TopRecord,
)
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.population.sample import check_weights, refuse_no_numbers
from sqlaudit.reports.document import plural

# Minimal sample uniques, found in the database: level by level into kept tables, or as one chain of CTEs.

_WORD_BITS = 62
_BATCH = 100
_TABLE = "sqlaudit_records_uniques_"


class Uniques:
    """The minimal sample uniques of up to `max_size` columns of every record.

    Args:
        engine: an open engine. coded: the rows. kept: what top records are shown by, in the target's own values.
    """

    def __init__(self, engine: Engine, coded: Coded, max_size: int, kept: Sequence[Chosen] = ()) -> None:
        self.engine = engine
        self.coded = coded
        self.width = len(coded.missing)
        self.max_size = max_size
        self.kept = list(kept)
        self._words = -(-self.width // _WORD_BITS)
        self._levels = [
            [self._set(mask_of(chosen)) for chosen in combinations(range(self.width), size)]
            for size in range(1, max_size + 1)
        ]
        self._tables: dict[str, str] = {}
        if coded.coded:
            self._keep()

    def _keep(self) -> None:
        for sets in self._levels:
            smaller = [Raw(place) for place in self._tables.values()]
            fresh: dict[str, str] = {}
            for begin in range(0, len(sets), _BATCH):
                name = f"{_TABLE}{len(self._tables) + len(fresh)}"
                statement = render(
                    "column_sets/records/records_uniques.sql",
                    self.engine.dialect,
                    sets=sets[begin : begin + _BATCH],
                    source=self.coded.source,
                    tables=smaller,
                    words=self._words,
                    levels=[],
                    columns=None,
                    kept=[],
                )
                fresh[name] = self.engine.materialize(name, statement).sql
            self._tables.update(fresh)

    def close(self) -> None:
        """Release what was kept."""
        for name in self._tables:
            self.engine.drop(name)
        self._tables = {}

    def signatures(self) -> dict[Signature, int]:
        """How many records have 1, 2, … minimal sample uniques of each size; records without any are not listed."""
        rows = self._ask("column_sets/records/records_signatures.sql")
        return {tuple(int(count) for count in row[:-1]): int(row[-1]) for row in rows}

    def by_set(self) -> dict[int, int]:
        """For each column set (a mask) how many records it is a minimal sample unique of."""
        out = {}
        for row in self._ask("column_sets/records/records_by_set.sql"):
            mask = sum(int(word) << (number * _WORD_BITS) for number, word in enumerate(row[:-1]))
            out[mask] = int(row[-1])
        return out

    def top(self, limit: int, weights: Sequence[int]) -> list[tuple[tuple[Any, ...], Signature]]:
        """The records with the highest scores: the values of their kept columns, and their signature."""
        rows = self._ask(
            "column_sets/records/records_top.sql", limit=limit, weights=list(weights), shown=len(self.kept)
        )
        shown = len(self.kept)
        return [(tuple(row[:shown]), tuple(int(count) for count in row[shown:])) for row in rows]

    def statement(self, template: str, **parameters: Any) -> Statement:
        """A question about the minimal sample uniques."""
        return render(
            template,
            self.engine.dialect,
            tables=[Raw(place) for place in self._tables.values()],
            levels=self._levels,
            source=self.coded.source,
            columns=self.coded.columns,
            kept=self.kept,
            words=self._words,
            sizes=list(range(1, self.max_size + 1)),
            **parameters,
        )

    def _ask(self, template: str, **parameters: Any) -> list[Row]:
        return self.engine.run(self.statement(template, **parameters))

    def _set(self, mask: int) -> dict[str, Any]:
        low = (1 << _WORD_BITS) - 1
        return {
            "packed": self.coded.keys(mask),
            "words": [mask >> (_WORD_BITS * word) & low for word in range(self._words)],
            "size": mask.bit_count(),
            "nullable": code_names(bits(mask & self.coded.nullable)),
        }


# Individual and household risk: added up in the database, with the threshold that keeps the risk of the file.

THRESHOLDS = ("0.5", "0.2", "0.1", "0.05", "0.01")


@dataclass(frozen=True)
class RiskSource:
    """Whose risk is told.

    Args:
        engine, relation, chosen: where the rows are, and their quasi-identifiers.
        people: how many people each row stands for. request: how missing values are read, and the wanted global risk.
    """

    engine: Engine
    relation: Relation
    chosen: Sequence[Chosen]
    people: Raw
    request: RecordRequest

    def ask(self, template: str, **more: Any) -> tuple[Any, ...]:
        """The one row that a template tells."""
        statement = render(
            template,
            self.engine.dialect,
            source=self.relation,
            columns=self.chosen,
            weight=self.people,
            nulls=self.request.nulls.value,
            thresholds=THRESHOLDS,
            most=self.request.max_global_risk,
            **more,
        )
        return tuple(self.engine.run(statement)[0])


def individual_risk(source: RiskSource, coded: Coded) -> IndividualRisk:
    """The risks of the rows.

    Raises:
        UsageError: the weights of a class add up to fewer people than rows.
    """
    rows, too_light, expected, highest, *more = source.ask(
        "column_sets/records/records_risk.sql",
        names=code_names(range(len(source.chosen))),
        nullable=code_names(bits(coded.nullable)),
    )
    if too_light:
        raise UsageError(
            f"In {plural(too_light, 'class', 'classes')} the weights add up to fewer people than rows. Give each row "
            "the number of people it stands for, including itself."
        )
    return IndividualRisk(**_figures(source, rows, expected, highest, more))


def household_risk(source: RiskSource, home: Chosen) -> HouseholdRisk:
    """The risks of households.

    Raises:
        UsageError: some rows have no household.
    """
    households, homeless, rows, expected, highest, *more = source.ask("population/household_risk.sql", household=home)
    if homeless:
        raise UsageError(
            f"{about('household')}: {home.name} is missing in {int(homeless):,} of {int(rows):,} rows. Fill it."
        )
    figures = _figures(source, rows, expected, highest, more, int(households))
    return HouseholdRisk(home.name, int(households), **figures)


def check_weights_of(engine: Engine, relation: Relation, weight: Chosen) -> None:
    """Look at the weights before anything is made of them.

    Raises:
        UsageError: they are missing, not above 0, or no numbers of people.
    """
    refuse_no_numbers(weight.name, weight.kind)
    statement = render("population/weights.sql", engine.dialect, step="records_weights", source=relation, weight=weight)
    rows, refused, largest = engine.run(statement)[0]
    check_weights(int(rows), int(refused), None if largest is None else float(largest), weight.name)


def _figures(
    source: RiskSource, rows: Any, expected: Any, highest: Any, more: Sequence[Any], households: int | None = None
) -> dict[str, Any]:
    """What is told of the risks of rows, by field; `more` are the counts above thresholds, and what was asked of the
    wanted global risk: where no risk of the file is low enough, everybody is above the threshold."""
    total, most, found = float(expected or 0), source.request.max_global_risk, None
    if most is not None:
        risk, remaining, *above = more[len(THRESHOLDS) :]
        found = RiskThreshold(most, None, None, int(rows), households)
        if risk is not None:
            found = RiskThreshold(most, float(risk), float(remaining), *map(int, above))
    return {
        "expected": total,
        "highest": float(highest or 0),
        "mean": total / int(rows) if rows else 0.0,
        "above": {threshold: int(count or 0) for threshold, count in zip(THRESHOLDS, more, strict=False)},
        "threshold": found,
    }


# SUDA scores from minimal sample uniques. Pure.
#
# Elliot, Manning and Ford, *A computational algorithm for handling the special uniques problem* (2002); the two
# published weightings are those of sdcMicro's `suda2`. A = columns, M = the largest size searched, at most A − 1.


def suda_weight(size: int, columns: int, largest: int) -> int:
    """What one minimal sample unique of a size adds to the score.

    Example:
        >>> [suda_weight(size, 4, 3) for size in (1, 2, 3)]
        [6, 2, 1]
    """
    if size == columns:
        return 1
    return prod(columns - i for i in range(size, min(largest, columns - 1) + 1))


def ihsn_weight(size: int, columns: int) -> Fraction:
    """The same in the weighting of the IHSN guidelines.

    Example:
        >>> ihsn_weight(1, 4)
        Fraction(7, 4)
    """
    return Fraction(2 ** (columns - size) - 1, comb(columns, size))


def file_dis(unique: int, paired: int, fraction: Fraction) -> Fraction:
    """The share of correct matches among the matches with the file: Uπ/(Uπ + P(1−π)); 0 without unique records.

    Args:
        unique: records unique on all columns. paired: records in classes of two. fraction: the sampling fraction π.

    Example:
        >>> round(float(file_dis(4, 6, Fraction(1, 100))), 9)
        0.006688963
    """
    hits = unique * fraction
    return hits / (hits + paired * (1 - fraction)) if hits else Fraction(0)


def scores_of(
    signatures: Mapping[Signature, int], columns: int, largest: int, unique: int, dis: Fraction
) -> dict[Signature, Scores]:
    """The scores of every signature, with DIS-SUDA over the whole file.

    Args:
        signatures: records by signature. columns: A. largest: M.
        unique: unique records U. dis: the file's DIS.
    """
    suda = {s: _score(s, [suda_weight(k, columns, largest) for k in range(1, len(s) + 1)]) for s in signatures}
    ihsn = {s: _score(s, [ihsn_weight(k, columns) for k in range(1, len(s) + 1)]) for s in signatures}
    by_suda, by_ihsn = (_dis(one, signatures, columns, unique, dis) for one in (suda, ihsn))
    return {s: Scores(suda[s], ihsn[s], by_suda[s], by_ihsn[s]) for s in signatures}


def _score(signature: Signature, weights: Sequence[int | Fraction]) -> Fraction:
    return sum((count * Fraction(weight) for count, weight in zip(signature, weights, strict=True)), Fraction(0))


def _dis(
    score: Mapping[Signature, Fraction], records: Mapping[Signature, int], columns: int, unique: int, dis: Fraction
) -> dict[Signature, float]:
    """DIS-SUDA_i = 1/(1 + (U/DIS − U)/(S_i^Q · Σ_j S_j^−Q)), Q = 1 + (8−A)/20; 0 where the score is 0."""
    power = 1 + (8 - columns) / 20
    inverse = sum(records[s] * float(value) ** -power for s, value in score.items() if value)
    if not dis:
        return dict.fromkeys(score, 0.0)
    odds = float(unique / dis - unique)
    return {s: 1 / (1 + odds / (float(v) ** power * inverse)) if v else 0.0 for s, v in score.items()}


def contributions(by_set: Mapping[int, int], columns: int, largest: int) -> list[Fraction]:
    """For each column the share of the whole score in minimal sample uniques with it.

    Args:
        by_set: for each column set (a mask) how many records it is a minimal sample unique of.
    """
    weight = {mask: count * suda_weight(mask.bit_count(), columns, largest) for mask, count in by_set.items()}
    total = sum(weight.values())
    if not total:
        return [Fraction(0)] * columns
    return [Fraction(sum(w for mask, w in weight.items() if mask >> i & 1), total) for i in range(columns)]


# Per-record uniqueness: minimal sample uniques, SUDA scores and individual risk, aggregated in the database.

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
        raise UsageError(f"No quasi-identifiers are given. Name them with {spelled('qi')}.")
    already = len(engine.executed)
    relation = engine.open(target) if isinstance(target, Target) else engine.note_remarks(target)
    chosen = choose_columns(relation, engine.dialect, request.qi, field="qi")
    kept: tuple[Chosen, ...] = ()
    if request.show_values:
        kept = choose_columns(relation, engine.dialect, request.key, field="key") if request.key else tuple(chosen)
    weight = choose_column(relation, engine.dialect, request.weights, "weights") if request.weights else None
    home = choose_column(relation, engine.dialect, request.household, "household") if request.household else None
    try:
        coded = code_columns(engine, relation, chosen, None, kept)
        if weight is not None:
            check_weights_of(engine, relation, weight)
        alike = str(round(float(1 / (request.sampling_fraction or 1)), 6))  # people that a row stands for
        source = RiskSource(engine, relation, chosen, Raw(weight.sql if weight else alike), request)
        risk = individual_risk(source, coded)
        homes = household_risk(source, home) if home else None
        found = _records(source, coded, kept, risk)
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


def _records(source: RiskSource, coded: Coded, kept: Sequence[Chosen], risk: IndividualRisk) -> RecordRisk:
    engine, request = source.engine, source.request
    columns, width = tuple(one.name for one in source.chosen), len(source.chosen)
    size = min(request.max_size, width)
    whole = SetCounter(engine, coded, 3, request.nulls).figures([(1 << width) - 1])[0]
    unique, paired = whole.unique, whole.at_risk - whole.unique
    fraction = request.sampling_fraction or DEFAULT_FRACTION
    dis = file_dis(unique, paired, fraction)
    uniques = Uniques(coded.engine or engine, coded, size, kept)
    try:
        signatures, by_set = uniques.signatures(), uniques.by_set()
        weights = [suda_weight(k, width, size) for k in range(1, size + 1)]
        shown = uniques
        if coded.engine is not None:  # cells are read where they lie
            shown = Uniques(engine, on_target(coded, source.relation, source.chosen, None), size, kept)
        top = shown.top(request.top, weights) if request.show_values and request.top else []
    finally:
        uniques.close()
    scores = scores_of(signatures, width, size, unique, dis)
    ranked = sorted(signatures, key=lambda signature: (-scores[signature].suda, [-count for count in signature]))
    sizes = tuple(sum(n * signature[k] for signature, n in signatures.items()) for k in range(size))
    often = sorted(by_set, key=lambda mask: (-by_set[mask], mask.bit_count(), bits(mask)))[:_SETS]
    return RecordRisk(
        target=source.relation.label,
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


@takes(
    "target * qi key weights household max_global_risk max_size sampling_fraction nulls top show_values roles db "
    "query where read limits",
    RecordRequest,
)
def records(given: Given) -> RecordRisk:
    """Find records that are unique on few columns (`sqlaudit records`).

    Args:
        max_size: the largest size of a minimal sample unique.
        top: how many records to show, only with `show_values`.
        roles: qi and nulls at once, instead of these: a mapping of roles, or what `profile(…).roles` proposes.

    Raises:
        UsageError: an unknown column, or weights that are too small.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"zip": [1, 1, 2], "sex": list("fff"), "job": list("aab")})
        >>> sqlaudit.records(people, qi=["zip", "sex", "job"]).uniques_by_size
        (2, 0, 0)
    """
    said = dict(vars(given))
    if given.roles is not None:
        known = roles_from(said, passed_over=("sensitive", "identifiers"))
        said |= {"qi": known.quasi_identifiers, "nulls": known.nulls}
    request = request_from(RecordRequest, said)
    chosen = target_of(given)
    with opened(given.db, given.limits, chosen) as engine:
        return find_records(engine, chosen, request)
