"""Single records: minimal sample uniques, SUDA scores, individual and household risk, added up in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation, Row, Statement
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
    read_target,
)
from sqlaudit.column_sets.masks import bits, column_names, mask_of
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
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.population.sample import check_weights, refuse_no_numbers
from sqlaudit.reports.document import plural

# Minimal sample uniques, from the database: level by level into tables, or as one chain of CTEs.

_WORD_BITS = 62
_BATCH = 100
_TABLE = "sqlaudit_records_uniques_"


class Uniques:
    """The minimal sample uniques of up to `max_size` columns of every record.

    Args:
        engine: an open engine.
        coded: the rows.
        max_size: the most columns of a sample unique.
        shown_columns: the columns that top records are shown by, in the target's own values.
    """

    def __init__(self, engine: Engine, coded: Coded, max_size: int, shown_columns: Sequence[Chosen] = ()) -> None:
        self.engine = engine
        self.coded = coded
        self.width = len(coded.missing)
        self.max_size = max_size
        self.shown_columns = list(shown_columns)
        self._words = -(-self.width // _WORD_BITS)
        self._levels = [
            [self._set_parameters(mask_of(columns)) for columns in combinations(range(self.width), size)]
            for size in range(1, max_size + 1)
        ]
        self._tables: dict[str, str] = {}
        if coded.coded:
            self._store_levels()

    def _store_levels(self) -> None:
        """Store the minimal sample uniques of each size in tables; each size needs the smaller ones."""
        for sets in self._levels:
            smaller = [Raw(name) for name in self._tables.values()]
            new_tables: dict[str, str] = {}
            for begin in range(0, len(sets), _BATCH):
                name = f"{_TABLE}{len(self._tables) + len(new_tables)}"
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
                new_tables[name] = self.engine.materialize(name, statement).sql
            self._tables.update(new_tables)

    def close(self) -> None:
        """Drop the tables."""
        for name in self._tables:
            self.engine.drop(name)
        self._tables = {}

    def signatures(self) -> dict[Signature, int]:
        """Return the number of records by signature: their numbers of minimal sample uniques of each size.

        Records without minimal sample uniques are left out.
        """
        rows = self._query("column_sets/records/records_signatures.sql")
        return {tuple(int(count) for count in row[:-1]): int(row[-1]) for row in rows}

    def by_set(self) -> dict[int, int]:
        """Return, for each column set (a mask), the number of records of which it is a minimal sample unique."""
        records = {}
        for row in self._query("column_sets/records/records_by_set.sql"):
            mask = sum(int(word) << (number * _WORD_BITS) for number, word in enumerate(row[:-1]))
            records[mask] = int(row[-1])
        return records

    def top(self, limit: int, weights: Sequence[int]) -> list[tuple[tuple[object, ...], Signature]]:
        """Return the records with the highest scores: the values of the shown columns, and the signature."""
        rows = self._query(
            "column_sets/records/records_top.sql", limit=limit, weights=list(weights), shown=len(self.shown_columns)
        )
        width = len(self.shown_columns)
        return [(tuple(row[:width]), tuple(int(count) for count in row[width:])) for row in rows]

    def statement(self, template: str, **parameters: Any) -> Statement:
        """Return a statement that reads the minimal sample uniques."""
        return render(
            template,
            self.engine.dialect,
            tables=[Raw(name) for name in self._tables.values()],
            levels=self._levels,
            source=self.coded.source,
            columns=self.coded.columns,
            kept=self.shown_columns,
            words=self._words,
            sizes=list(range(1, self.max_size + 1)),
            **parameters,
        )

    def _query(self, template: str, **parameters: object) -> list[Row]:
        return self.engine.run(self.statement(template, **parameters))

    def _set_parameters(self, mask: int) -> dict[str, object]:
        low = (1 << _WORD_BITS) - 1
        return {
            "packed": self.coded.keys(mask),
            "words": [mask >> (_WORD_BITS * word) & low for word in range(self._words)],
            "size": mask.bit_count(),
            "nullable": code_names(bits(mask & self.coded.nullable)),
        }


# Individual and household risk: summed in the database, with the threshold that keeps the global risk of the file.

THRESHOLDS = ("0.5", "0.2", "0.1", "0.05", "0.01")


@dataclass(frozen=True)
class RiskSource:
    """The rows whose risk is measured.

    Args:
        engine, relation, chosen: where the rows are, and their quasi-identifiers.
        people: the number of people that each row stands for, as an expression.
        request: how missing values are read, and the required global risk.
    """

    engine: Engine
    relation: Relation
    chosen: Sequence[Chosen]
    people: Raw
    request: RecordRequest

    def query(self, template: str, **parameters: Any) -> tuple[Any, ...]:
        """Return the only row of a template over these rows."""
        statement = render(
            template,
            self.engine.dialect,
            source=self.relation,
            columns=self.chosen,
            weight=self.people,
            nulls=self.request.nulls.value,
            thresholds=THRESHOLDS,
            most=self.request.max_global_risk,
            **parameters,
        )
        return tuple(self.engine.run(statement)[0])


def measure_individual_risk(source: RiskSource, coded: Coded) -> IndividualRisk:
    """Return the re-identification risks of the rows.

    Raises:
        UsageError: the weights of a class add up to fewer people than rows.
    """
    rows, too_light, expected, highest, *figures = source.query(
        "column_sets/records/records_risk.sql",
        names=code_names(range(len(source.chosen))),
        nullable=code_names(bits(coded.nullable)),
    )
    if too_light:
        raise UsageError(
            f"In {plural(too_light, 'class', 'classes')} the weights add up to fewer people than rows. Give each row "
            "the number of people it stands for, including itself."
        )
    return IndividualRisk(**_risk_fields(source, rows, expected, highest, figures))


def measure_household_risk(source: RiskSource, home: Chosen) -> HouseholdRisk:
    """Return the re-identification risks of the households.

    Raises:
        UsageError: a row has no household.
    """
    households, homeless, rows, expected, highest, *counts = source.query(
        "population/household_risk.sql", household=home
    )
    if homeless:
        raise UsageError(
            f"{about('household')}: {home.name} is missing in {int(homeless):,} of {int(rows):,} rows. Fill it."
        )
    figures = _risk_fields(source, rows, expected, highest, counts, int(households))
    return HouseholdRisk(home.name, int(households), **figures)


def check_weight_column(engine: Engine, relation: Relation, weight: Chosen) -> None:
    """Refuse unusable weights before anything is computed from them.

    Raises:
        UsageError: a weight is missing, not above 0, or no number of people.
    """
    refuse_no_numbers(weight.name, weight.kind)
    statement = render("population/weights.sql", engine.dialect, step="records_weights", source=relation, weight=weight)
    rows, refused, largest = engine.run(statement)[0]
    check_weights(int(rows), int(refused), None if largest is None else float(largest), weight.name)


def _risk_fields(
    source: RiskSource, rows: Any, expected: Any, highest: Any, counts: Sequence[Any], households: int | None = None
) -> dict[str, Any]:
    """Return the fields of a result on risks.

    Args:
        counts: the counts of rows above each of `THRESHOLDS`, then the figures of the required global risk, if any.
            Where no threshold keeps the risk low enough, all rows are above it.
        households: the number of households, for household risk.
    """
    expected_total, limit, threshold = float(expected or 0), source.request.max_global_risk, None
    if limit is not None:
        risk, remaining, *above = counts[len(THRESHOLDS) :]
        threshold = RiskThreshold(limit, None, None, int(rows), households)
        if risk is not None:
            threshold = RiskThreshold(limit, float(risk), float(remaining), *map(int, above))
    return {
        "expected": expected_total,
        "highest": float(highest or 0),
        "mean": expected_total / int(rows) if rows else 0.0,
        "above": {level: int(count or 0) for level, count in zip(THRESHOLDS, counts, strict=False)},
        "threshold": threshold,
    }


# SUDA scores from minimal sample uniques. These functions run no SQL.
#
# Elliot, Manning and Ford, *A computational algorithm for handling the special uniques problem* (2002); the two
# published weightings are those of sdcMicro's `suda2`. A = columns, M = the largest size searched, at most A − 1.


def suda_weight(size: int, columns: int, largest: int) -> int:
    """Return what a minimal sample unique of this size adds to the score.

    Example:
        >>> [suda_weight(size, 4, 3) for size in (1, 2, 3)]
        [6, 2, 1]
    """
    if size == columns:
        return 1
    return prod(columns - i for i in range(size, min(largest, columns - 1) + 1))


def ihsn_weight(size: int, columns: int) -> Fraction:
    """Return what a minimal sample unique of this size adds to the score in the weighting of the IHSN guidelines.

    Example:
        >>> ihsn_weight(1, 4)
        Fraction(7, 4)
    """
    return Fraction(2 ** (columns - size) - 1, comb(columns, size))


def compute_file_dis(unique: int, paired: int, fraction: Fraction) -> Fraction:
    """Return the share of correct matches among the matches with the file: Uπ/(Uπ + P(1−π)); 0 without unique records.

    Args:
        unique: number of records unique on all columns, U.
        paired: number of records in classes of two, P.
        fraction: the sampling fraction π.

    Example:
        >>> round(float(compute_file_dis(4, 6, Fraction(1, 100))), 9)
        0.006688963
    """
    hits = unique * fraction
    return hits / (hits + paired * (1 - fraction)) if hits else Fraction(0)


def compute_scores(
    signatures: Mapping[Signature, int], columns: int, largest: int, unique: int, dis: Fraction
) -> dict[Signature, Scores]:
    """Return the scores of each signature, with DIS-SUDA over the whole file.

    Args:
        signatures: number of records by signature.
        columns: number of columns, A.
        largest: largest size of a minimal sample unique, M.
        unique: number of unique records, U.
        dis: the file's DIS.
    """
    suda = {s: _sum_weights(s, [suda_weight(k, columns, largest) for k in range(1, len(s) + 1)]) for s in signatures}
    ihsn = {s: _sum_weights(s, [ihsn_weight(k, columns) for k in range(1, len(s) + 1)]) for s in signatures}
    by_suda, by_ihsn = (_compute_dis_suda(score, signatures, columns, unique, dis) for score in (suda, ihsn))
    return {s: Scores(suda[s], ihsn[s], by_suda[s], by_ihsn[s]) for s in signatures}


def _sum_weights(signature: Signature, weights: Sequence[int | Fraction]) -> Fraction:
    return sum((count * Fraction(weight) for count, weight in zip(signature, weights, strict=True)), Fraction(0))


def _compute_dis_suda(
    score: Mapping[Signature, Fraction], records: Mapping[Signature, int], columns: int, unique: int, dis: Fraction
) -> dict[Signature, float]:
    """Return DIS-SUDA_i = 1/(1 + (U/DIS − U)/(S_i^Q · Σ_j S_j^−Q)), Q = 1 + (8−A)/20; 0 where the score is 0."""
    power = 1 + (8 - columns) / 20
    inverse = sum(records[s] * float(value) ** -power for s, value in score.items() if value)
    if not dis:
        return dict.fromkeys(score, 0.0)
    odds = float(unique / dis - unique)
    return {s: 1 / (1 + odds / (float(v) ** power * inverse)) if v else 0.0 for s, v in score.items()}


def share_contributions(by_set: Mapping[int, int], columns: int, largest: int) -> list[Fraction]:
    """Return, for each column, the share of the whole score from minimal sample uniques with this column.

    Args:
        by_set: for each column set (a mask), the number of records of which it is a minimal sample unique.
        columns: number of columns.
        largest: largest size of a minimal sample unique.
    """
    weight = {mask: count * suda_weight(mask.bit_count(), columns, largest) for mask, count in by_set.items()}
    total = sum(weight.values())
    if not total:
        return [Fraction(0)] * columns
    return [Fraction(sum(w for mask, w in weight.items() if mask >> i & 1), total) for i in range(columns)]


# The audit of single records: minimal sample uniques, SUDA scores and individual risk.

DEFAULT_FRACTION = Fraction(1, 100)
"""The sampling fraction of DIS-SUDA, if none is given."""
_SETS = 50


def find_records(engine: Engine, request: RecordRequest, *, relation: Relation | None = None) -> RecordRisk:
    """Find records that are unique on few columns, and likely to be unique in the population.

    Args:
        engine: an open engine.
        request: the table, its columns, and the limits.
        relation: what is audited instead of opening the target.

    Raises:
        UsageError: an unknown column, no quasi-identifier, or weights that are missing or too small.
        EngineError: the database refused, failed or went away.

    Example:
        >>> import pandas as pd
        >>> from sqlaudit.base.spec import Target
        >>> from sqlaudit.engines import connect
        >>> people = pd.DataFrame({"zip": [1, 1, 2], "sex": list("fff"), "job": list("aab")})
        >>> with connect() as engine:
        ...     found = find_records(engine, RecordRequest(Target(frame=people), ("zip", "sex", "job")))
        >>> found.records, found.uniques_by_size, [columns for columns, _ in found.by_set]
        (1, (2, 0, 0), [('zip',), ('job',)])
    """
    if not request.qi:
        raise UsageError(f"No quasi-identifiers are given. Name them with {spelled('qi')}.")
    executed_before = len(engine.executed)
    relation = engine.open(request.target) if relation is None else engine.note_remarks(relation)
    chosen = choose_columns(relation, engine.dialect, request.qi, field="qi")
    shown_columns: tuple[Chosen, ...] = ()
    if request.show_values:
        shown_columns = (
            choose_columns(relation, engine.dialect, request.key, field="key") if request.key else tuple(chosen)
        )
    weight = choose_column(relation, engine.dialect, request.weights, "weights") if request.weights else None
    home = choose_column(relation, engine.dialect, request.household, "household") if request.household else None
    try:
        coded = code_columns(engine, relation, chosen, None, shown_columns)
        if weight is not None:
            check_weight_column(engine, relation, weight)
        people = str(round(float(1 / (request.sampling_fraction or 1)), 6))  # people that a row stands for
        source = RiskSource(engine, relation, chosen, Raw(weight.sql if weight else people), request)
        risk = measure_individual_risk(source, coded)
        households = measure_household_risk(source, home) if home else None
        result = _measure_records(source, coded, shown_columns, risk)
        of_sample = weight is None and request.sampling_fraction is not None
        result = replace(result, weights=request.weights, of_sample=of_sample, household=households)
        return replace(result, **provenance(engine, executed_before))
    finally:
        drop_codes(engine)


def plan_records(engine: Engine, request: RecordRequest) -> list[Statement]:
    """Return the statement that counts minimal sample uniques, as text that runs alone, for `--dry-run`.

    Raises:
        UsageError: an unknown column.
    """
    relation = engine.open(request.target)
    chosen = choose_columns(relation, engine.dialect, request.qi, field="qi")
    width = len(chosen)
    coded = Coded(Raw(relation.sql), tuple(Raw(column.sql) for column in chosen), None, 0, 0, (1,) * width)
    return [
        Uniques(engine, coded, min(request.max_size, width)).statement("column_sets/records/records_signatures.sql")
    ]


def _measure_records(
    source: RiskSource, coded: Coded, shown_columns: Sequence[Chosen], risk: IndividualRisk
) -> RecordRisk:
    """Return the result of the audit, given the individual risks."""
    engine, request = source.engine, source.request
    columns, width = tuple(column.name for column in source.chosen), len(source.chosen)
    size = min(request.max_size, width)
    figures = SetCounter(engine, coded, 3, request.nulls).figures([(1 << width) - 1])[0]
    unique, paired = figures.unique, figures.at_risk - figures.unique
    fraction = request.sampling_fraction or DEFAULT_FRACTION
    dis = compute_file_dis(unique, paired, fraction)
    uniques = Uniques(coded.engine or engine, coded, size, shown_columns)
    try:
        signatures, by_set = uniques.signatures(), uniques.by_set()
        weights = [suda_weight(k, width, size) for k in range(1, size + 1)]
        shown_uniques = uniques
        if coded.engine is not None:  # codes are elsewhere, and cell values do not leave the database
            shown_uniques = Uniques(
                engine, read_target(coded, source.relation, source.chosen, None), size, shown_columns
            )
        top = shown_uniques.top(request.top, weights) if request.show_values and request.top else []
    finally:
        uniques.close()
    scores = compute_scores(signatures, width, size, unique, dis)
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
        contributions=tuple(zip(columns, share_contributions(by_set, width, size), strict=True)),
        by_set=tuple((column_names(mask, columns), by_set[mask]) for mask in often),
        risk=risk,
        top=tuple(TopRecord(values, s, scores[s]) for values, s in top),
        key=tuple(column.name for column in shown_columns),
    )


@command(RecordRequest, plan_records)
def records(engine: Engine, request: RecordRequest) -> RecordRisk:
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
    return find_records(engine, request)
