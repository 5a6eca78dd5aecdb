"""What was found about single records. Frozen; without values unless they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import AS_FLOAT, AS_TEXT, HERE, IF_ANY, LEFT_OUT, Documented, key, objects, shown
from sqlaudit.base.result import MeasuredResult
from sqlaudit.reports.notebook import Shown

Signature = tuple[int, ...]
"""How many minimal sample uniques of 1, 2, … columns a record has."""


@dataclass(frozen=True)
class Scores(Documented):
    """The scores of one record.

    Args:
        suda: Σ over its minimal sample uniques of Π_{i=k..M}(A−i), k = their size; a size of A counts 1.
        ihsn: Σ of (2^(A−k) − 1)/C(A,k).
        dis_suda, dis_ihsn: DIS-SUDA from these scores, between 0 and 1.
    """

    suda: Fraction = field(metadata=AS_FLOAT)
    ihsn: Fraction = field(metadata=key("suda_ihsn") | AS_FLOAT)
    dis_suda: float
    dis_ihsn: float = field(metadata=key("dis_suda_ihsn"))


@dataclass(frozen=True)
class RiskThreshold(Documented):
    """The threshold of risk that keeps the global risk, the expected share of re-identified records, at a wanted one.

    It is that of μ-Argus (manual 4.1, section 2.3.4.1) and sdcMicro: who is above it is protected so far that the
    threshold is left as risk, and counts with that. Where they are left out instead, the global risk is lower still.

    Args:
        most: the wanted global risk. risk: the threshold, the largest risk of the file that keeps it; None = no risk of
            the file does, and every record has to be protected to a risk of at most `most`.
        remaining: the global risk when those above count with the threshold; None without one.
        rows: rows above it. households: households above it, None where the risk is that of rows.
    """

    most: Fraction = field(metadata=key("max_global_risk") | AS_FLOAT)
    risk: float | None
    remaining: float | None = field(metadata=key("global_risk"))
    rows: int = field(metadata=key("rows_above"))
    households: int | None = field(default=None, metadata=key("households_above"))


@dataclass(frozen=True)
class IndividualRisk(Documented):
    """Re-identification risk of rows given their sampling weights (Franconi and Polettini, 2004).

    Args:
        expected: Σ of the rows' risks, the number of rows expected to be re-identified.
        highest: the largest risk of a row. mean: expected / rows.
        above: rows whose risk exceeds a threshold, by threshold.
        threshold: the one that keeps a wanted global risk, None unless one was named.
    """

    expected: float
    highest: float
    mean: float
    above: Mapping[str, int] = field(metadata=key("rows_above"))
    threshold: RiskThreshold | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True)
class HouseholdRisk(Documented):
    """Risk that at least one member of a row's household is found: 1 - Π(1 - risk) over the members.

    Args:
        column: which rows live together. households: how many there are.
        expected: Σ of the rows' household risks. highest: the largest. mean: expected / rows.
        above: rows whose household risk exceeds a threshold, by threshold.
        threshold: the one that keeps a wanted global risk, None unless one was named.
    """

    column: str
    households: int
    expected: float
    highest: float
    mean: float
    above: Mapping[str, int] = field(metadata=key("rows_above"))
    threshold: RiskThreshold | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True)
class TopRecord(Documented):
    """One of the records with the highest scores, by the values of its key columns."""

    key: tuple[Any, ...] = field(metadata=AS_TEXT)
    uniques: Signature = field(metadata=LEFT_OUT)
    scores: Scores = field(metadata=HERE)


def _by_size(counts: tuple[int, ...]) -> list[dict[str, int]]:
    return [{"size": size, "count": count} for size, count in enumerate(counts, 1)]


def _scores(found: tuple[tuple[Signature, int, Scores], ...]) -> list[dict[str, Any]]:
    return [
        {"minimal_sample_uniques": signature, "records": count} | scores.to_dict() for signature, count, scores in found
    ]


def _shares(found: tuple[tuple[str, Fraction], ...]) -> list[dict[str, Any]]:
    return [{"column": name, "share": float(share)} for name, share in found]


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordRisk(MeasuredResult, Shown):
    """Which records are special, and which columns make them so.

    Args:
        target: what was looked at. columns: the quasi-identifiers, A of them.
        rows: rows of the target. unique_rows: rows unique on all columns together. paired_rows: rows in classes of two.
        max_size: the largest size of a minimal sample unique searched, M for the scores at most A − 1.
        nulls: how missing values are read for unique rows and individual risk; never part of a minimal sample unique.
        fraction: the sampling fraction of DIS-SUDA. file_dis: the file's DIS.
        uniques_by_size: how many minimal sample uniques have 1, 2, … columns, over all records.
        records: records that have one at all.
        scores: for each signature (numbers of minimal sample uniques by size) how many records have it, and the scores.
        contributions: for each column the share of the whole SUDA score in minimal sample uniques with it.
        by_set: the column sets that are minimal sample uniques of most records, with their number.
        risk: individual risk. household: risk of households, None unless a column says which rows live together.
        of_sample: whether the sampling fraction was named, and individual risk is that of a sample.
        weights: the column of sampling weights, None = the file was taken for the population.
        top: the records with the highest scores; empty unless values may be shown.
        key: the columns of `top`. engine, time, statements, versions: as in an audit.
    """

    schema: ClassVar = "sqlaudit-records/1"
    shown_by: ClassVar = "sqlaudit.column_sets.records.report:records_document"
    frame_of: ClassVar = "contributions"

    engine: str = ""
    target: str
    columns: tuple[str, ...]
    rows: int
    unique_rows: int
    paired_rows: int
    max_size: int
    nulls: str
    fraction: Fraction = field(metadata=key("sampling_fraction") | AS_FLOAT)
    file_dis: Fraction = field(metadata=AS_FLOAT)
    uniques_by_size: tuple[int, ...] = field(metadata=key("minimal_sample_uniques") | shown(_by_size))
    records: int = field(metadata=key("records_with_minimal_sample_uniques"))
    scores: tuple[tuple[Signature, int, Scores], ...] = field(metadata=shown(_scores))
    contributions: tuple[tuple[str, Fraction], ...] = field(metadata=shown(_shares))
    by_set: tuple[tuple[tuple[str, ...], int], ...] = field(metadata=key("sets") | objects("columns", "records"))
    weights: str | None = None
    risk: IndividualRisk = field(metadata=key("individual_risk"))
    of_sample: bool = field(default=False, metadata=IF_ANY)
    household: HouseholdRisk | None = field(default=None, metadata=key("household_risk") | IF_ANY)
    key: tuple[str, ...] = ()
    top: tuple[TopRecord, ...] = ()

    @property
    def highest(self) -> Scores | None:
        """The scores of the most special record."""
        return self.scores[0][2] if self.scores else None
