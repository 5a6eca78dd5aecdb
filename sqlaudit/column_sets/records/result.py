"""The result for single records, and its report. Frozen; without values unless requested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar, TypedDict

from sqlaudit.base import result as base
from sqlaudit.base.parameter_names import spelled
from sqlaudit.column_sets.result import READS
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport

Signature = tuple[int, ...]
"""How many minimal sample uniques of 1, 2, … columns a record has."""


@dataclass(frozen=True)
class Scores(base.Documented):
    """The scores of one record.

    Args:
        suda: Σ over its minimal sample uniques of Π_{i=k..M}(A−i), k = their size; a size of A counts 1.
        ihsn: Σ of (2^(A−k) − 1)/C(A,k).
        dis_suda, dis_ihsn: DIS-SUDA from these scores, between 0 and 1.
    """

    suda: Annotated[Fraction, base.FROM_0] = field(metadata=base.AS_FLOAT)
    ihsn: Annotated[Fraction, base.FROM_0] = field(metadata=base.key("suda_ihsn") | base.AS_FLOAT)
    dis_suda: Annotated[float, base.FROM_0_TO_1]
    dis_ihsn: Annotated[float, base.FROM_0_TO_1] = field(metadata=base.key("dis_suda_ihsn"))


@dataclass(frozen=True)
class RiskThreshold(base.Documented):
    """The threshold of risk for a required global risk, the expected share of re-identified records.

    It is that of μ-Argus (manual 4.1, section 2.3.4.1) and sdcMicro: records above it are protected down to the
    threshold, and count with that risk. If they are left out instead, the global risk is lower.

    Args:
        most: the required global risk. risk: the threshold, the largest risk of the file that meets it; None = no risk
            of the file does, and every record must be protected to a risk of at most `most`.
        remaining: the global risk if those above count with the threshold; None without one.
        rows: rows above it. households: households above it, None where the risk is that of rows.
    """

    most: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.key("max_global_risk") | base.AS_FLOAT)
    risk: Annotated[float, base.FROM_0_TO_1] | None
    remaining: Annotated[float, base.FROM_0_TO_1] | None = field(metadata=base.key("global_risk"))
    rows: int = field(metadata=base.key("rows_above"))
    households: int | None = field(default=None, metadata=base.key("households_above"))


@dataclass(frozen=True)
class IndividualRisk(base.Documented):
    """Re-identification risk of rows given their sampling weights (Franconi and Polettini, 2004).

    Args:
        expected: Σ of the rows' risks, the number of rows expected to be re-identified.
        highest: the largest risk of a row. mean: expected / rows.
        above: rows whose risk exceeds a threshold, by threshold.
        threshold: the one for a required global risk, or None.
    """

    expected: Annotated[float, base.FROM_0]
    highest: Annotated[float, base.FROM_0_TO_1]
    mean: Annotated[float, base.FROM_0_TO_1]
    above: Mapping[str, int] = field(metadata=base.key("rows_above"))
    threshold: RiskThreshold | None = field(default=None, metadata=base.IF_ANY)


@dataclass(frozen=True)
class HouseholdRisk(base.Documented):
    """Risk that at least one member of a row's household is re-identified: 1 - Π(1 - risk) over the members.

    Args:
        column: the column of households. households: their number.
        expected: Σ of the rows' household risks. highest: the largest. mean: expected / rows.
        above: rows whose household risk exceeds a threshold, by threshold.
        threshold: the one for a required global risk, or None.
    """

    column: str
    households: int
    expected: Annotated[float, base.FROM_0]
    highest: Annotated[float, base.FROM_0_TO_1]
    mean: Annotated[float, base.FROM_0_TO_1]
    above: Mapping[str, int] = field(metadata=base.key("rows_above"))
    threshold: RiskThreshold | None = field(default=None, metadata=base.IF_ANY)


@dataclass(frozen=True)
class TopRecord(base.Documented):
    """One of the records with the highest scores, by the values of its key columns."""

    key: tuple[Any, ...] = field(metadata=base.AS_TEXT)
    uniques: Signature = field(metadata=base.LEFT_OUT)
    scores: Scores = field(metadata=base.HERE)


@dataclass(frozen=True)
class AlikeRecords(base.Documented):
    """Records with the same numbers of minimal sample uniques."""

    uniques: Signature = field(metadata=base.key("minimal_sample_uniques"))
    records: int
    scores: Scores = field(metadata=base.HERE)


class _OfSize(TypedDict):
    size: Annotated[int, base.FROM_1]
    count: int


class _ColumnShare(TypedDict):
    column: str
    share: Annotated[float, base.FROM_0_TO_1]


def _by_size(counts: tuple[int, ...]) -> list[_OfSize]:
    return [{"size": size, "count": count} for size, count in enumerate(counts, 1)]


def _scores(found: tuple[tuple[Signature, int, Scores], ...]) -> list[AlikeRecords]:
    return [AlikeRecords(*one) for one in found]


def _shares(found: tuple[tuple[str, Fraction], ...]) -> list[_ColumnShare]:
    return [{"column": name, "share": float(share)} for name, share in found]


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordRisk(base.MeasuredResult, Shown):
    """Records that are unique on few columns, and the columns that make them unique.

    Args:
        engine: the engine and its version. target: the table. columns: the quasi-identifiers, A of them.
        rows: rows of the target. unique_rows: rows unique on all columns together. paired_rows: rows in classes of two.
        max_size: the largest size of a minimal sample unique searched, M for the scores at most A − 1.
        nulls: how missing values are read for unique rows and individual risk; never part of a minimal sample unique.
        fraction: the sampling fraction of DIS-SUDA.
        file_dis: the file's DIS, the share of correct matches among matches with unique records.
        uniques_by_size: minimal sample uniques by number of columns. records: records that have one.
        scores: for each signature (numbers of minimal sample uniques by size) how many records have it, and the scores;
            highest first.
        contributions: for each column the share of the whole SUDA score in minimal sample uniques with it.
        by_set: the column sets that are minimal sample uniques of most records, with their number.
        risk: individual risk. household: risk of households, None without a column of households.
        of_sample: whether a sampling fraction was given, and individual risk is that of a sample.
        weights: the column of sampling weights, None = the file was treated as the population.
        top: the records with the highest scores; empty unless values may be shown.
        key: the columns that show top records; empty without --show-values.
    """

    schema: ClassVar = "sqlaudit-records/1"
    shown_by: ClassVar = "sqlaudit.column_sets.records.result:RecordsReport"
    frame_of: ClassVar = "contributions"

    engine: str = ""
    target: str
    columns: tuple[str, ...]
    rows: int
    unique_rows: int
    paired_rows: int
    max_size: int
    nulls: base.Nulls
    fraction: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.key("sampling_fraction") | base.AS_FLOAT)
    file_dis: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.AS_FLOAT)
    uniques_by_size: tuple[int, ...] = field(metadata=base.key("minimal_sample_uniques") | base.shown(_by_size))
    records: int = field(metadata=base.key("records_with_minimal_sample_uniques"))
    scores: tuple[tuple[Signature, int, Scores], ...] = field(metadata=base.shown(_scores))
    contributions: tuple[tuple[str, Fraction], ...] = field(metadata=base.shown(_shares))
    by_set: tuple[tuple[tuple[str, ...], int], ...] = field(
        metadata=base.key("sets") | base.objects("columns", "records")
    )
    weights: str | None = None
    risk: IndividualRisk = field(metadata=base.key("individual_risk"))
    of_sample: bool = field(default=False, metadata=base.IF_ANY)
    household: HouseholdRisk | None = field(default=None, metadata=base.key("household_risk") | base.IF_ANY)
    key: tuple[str, ...] = ()
    top: tuple[TopRecord, ...] = ()

    @property
    def highest(self) -> Scores | None:
        """The highest scores of a record."""
        return self.scores[0][2] if self.scores else None


_MOST, _MOST_BARS = 20, 10


class RecordsReport(MeasuredReport[RecordRisk]):
    """The report on single records: which are unique on few columns, and the risk that they are re-identified.

    Args:
        suda: whether scores are shown.
    """

    kind = "Special records"

    def __init__(self, suda: bool = True) -> None:
        self.suda = suda

    def headline(self, result: RecordRisk) -> doc.Toned:
        if not result.rows:
            return doc.Toned(f"{result.target}: the table has no rows")
        verb = "is" if result.records == 1 else "are"
        unique = doc.out_of(result.records, result.rows, "record")
        return doc.Toned(f"{result.target}: {unique} {verb} unique on few columns")

    def key_figures(self, result: RecordRisk) -> Iterator[doc.KeyFigure]:
        if result.rows:
            yield doc.KeyFigure(doc.with_share(result.records, result.rows), "Unique on few columns")
            yield doc.KeyFigure(doc.with_share(result.unique_rows, result.rows), "Unique on all columns")
            yield doc.KeyFigure(f"about {doc.count(round(result.risk.expected))}", "Expected re-identified")

    def lead(self, result: RecordRisk) -> Iterator[doc.Words]:
        if not result.rows:
            return
        columns, records = len(result.columns), doc.plural(result.records, "record")
        of = f"{doc.count(result.max_size)} or fewer of the {doc.count(columns)} columns"
        share, verb = doc.part(result.records, result.rows), "is" if result.records == 1 else "are"
        yield f"{records}{f' ({share})' if share else ''} {verb} unique on {of if columns > 1 else 'the only column'}."
        unique, verb = doc.plural(result.unique_rows, "record"), "is" if result.unique_rows == 1 else "are"
        paired = doc.plural(result.paired_rows, "record shares its values", "records share their values")
        yield f"{unique} {verb} unique on all columns together; {paired} with exactly one other record."
        if self.suda and result.highest is not None:
            yield f"The highest DIS-SUDA score of a record is {doc.figure(result.highest.dis_suda)}."
        expected = f"bout {_records(result.risk.expected)} expected to be re-identified (individual risk)"
        if result.weights is not None:
            yield f"A{expected}, with the sampling weights {result.weights}."
        elif result.of_sample:
            yield f"A{expected}, as the file is {doc.percent(result.fraction)} of its population."
        else:
            yield doc.Toned(
                f"If the file is the whole population, a{expected}.",
                hint=f"If it is a sample, name its weights with {spelled('weights')} or its share of the population "
                f"with {spelled('sampling_fraction')}.",
            )

    def sections(self, result: RecordRisk) -> Iterator[tuple[doc.Section, ...]]:
        # Without SUDA scores there are no rows, and a table without rows is left out
        by_share = sorted(result.contributions, key=lambda contribution: (-contribution[1], contribution[0]))
        shares = ((name, doc.percent(share)) for name, share in by_share if share and self.suda)
        yield doc.section("Contribution of each column", doc.table(("Column", "#Share of SUDA score"), shares))
        sets = ((doc.joined(names), records) for names, records in result.by_set[:_MOST])
        yield doc.section("Most revealing column sets", _sets_picture(result), doc.table(("Columns", "#Records"), sets))
        if self.suda:
            rows = ((records, score.suda, score.dis_suda, score.ihsn) for _, records, score in result.scores[:_MOST])
            caption = "The highest scores, with the number of records that have them."
            yield doc.section("Scores", doc.table(("#Records", "#SUDA", "#DIS-SUDA", "#IHSN"), rows, caption))
        if result.rows:
            yield doc.section("Individual risk", _risks_picture(result), *_risks(result), _thresholds(result))
        yield doc.section("Records with highest scores", _top(result, self.suda))

    def method(self, result: RecordRisk) -> Iterator[tuple[str, doc.Cell]]:
        yield "rows", result.rows
        yield "columns", doc.joined(result.columns)
        yield "largest set searched", doc.plural(result.max_size, "column")
        yield "sampling fraction", doc.limit(result.fraction)
        yield "disclosure score of the file (DIS)", float(result.file_dis)
        yield "missing values", f"never part of a minimal sample unique; otherwise {READS[result.nulls]}"

    def limits(self, result: RecordRisk) -> tuple[str, ...]:
        return ()


def _sets_picture(result: RecordRisk) -> doc.Picture | None:
    """Draw how many records each of the most revealing sets makes unique; None for fewer than two sets."""
    sets = result.by_set[:_MOST_BARS]
    if len(sets) < 2:
        return None
    names = [doc.joined(names) for names, _ in sets]
    title = "Records that are unique on each set of columns"
    return doc.bars(title, names, {"records": [records for _, records in sets]}, "records")


def _risks_picture(result: RecordRisk) -> doc.Picture:
    """Draw the share of records above each risk, of individuals and of households."""
    kinds = {"individual risk": result.risk, "household risk": result.household}
    series = {
        name: [number / result.rows for number in risk.above.values()]
        for name, risk in kinds.items()
        if risk is not None
    }
    names = [f"risk above {threshold}" for threshold in result.risk.above]
    return doc.bars("Share of records above each risk", names, series, "share of records", share=True)


def _top(result: RecordRisk, suda: bool) -> doc.Table:
    """Return the records with the highest scores, with the values of their key."""
    rows = (
        (*(None if value is None else str(value) for value in record.key), record.scores.suda, record.scores.dis_suda)
        for record in result.top
    )
    scores = ("#SUDA", "#DIS-SUDA") if suda else (None, None)
    return doc.table((*map(doc.Column, result.key), *scores), rows)


def _records(expected: float) -> str:
    """A number of records with the verb: `1 record is`."""
    return f"{doc.figure(expected)} {'record is' if expected == 1 else 'records are'}"


def _risks(result: RecordRisk) -> Iterator[doc.Table]:
    """Tables of individual and household risk."""
    risk, homes = result.risk, result.household
    above = ((f"above {threshold}", number) for threshold, number in risk.above.items())
    yield doc.table(
        ("Risk", "#Records"), above, f"Highest risk {doc.figure(risk.highest)}, mean {doc.figure(risk.mean)}."
    )
    if homes is not None:
        said = f"about {_records(homes.expected)} expected to be re-identified, directly or through their household"
        yield doc.table(
            ("Household risk", "#Records"),
            ((f"above {threshold}", number) for threshold, number in homes.above.items()),
            f"{doc.count(homes.households)} households by {homes.column}: highest risk "
            f"{doc.figure(homes.highest)}, mean {doc.figure(homes.mean)}; {said}.",
        )


def _thresholds(result: RecordRisk) -> Iterator[str]:
    """Yield the risk above which records must be protected, so that the file meets the required global risk."""
    for kind, risk in (("individual risk", result.risk), ("household risk", result.household)):
        if risk is not None and risk.threshold is not None:
            yield _threshold(kind, risk.mean, risk.threshold, result.rows)


def _threshold(kind: str, mean: float, threshold: RiskThreshold, rows: int) -> str:
    """Return which records must be protected, and down to which risk, for the required mean."""
    wanted, subject = doc.limit(threshold.most), f"{kind[0].upper()}{kind[1:]}"
    if not threshold.rows:
        return f"{subject}: the mean is {doc.figure(mean)}, at most {wanted} as required. No record needs protection."
    homes = f" in {doc.plural(threshold.households, 'household')}" if threshold.households is not None else ""
    above = f"{doc.plural(threshold.rows, 'record')}{homes}"
    if threshold.risk is None:
        return f"{subject}: every risk is too high for a mean of {wanted}. All of {above} need protection."
    return (
        f"{subject}: {above} ({doc.part(threshold.rows, rows)}) {'is' if threshold.rows == 1 else 'are'} above "
        f"{doc.figure(threshold.risk, 6)} and must be protected down to it. The mean is then "
        f"{doc.figure(threshold.remaining)}, at most {wanted} as required."
    )
