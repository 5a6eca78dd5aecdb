"""What was found about single records. Frozen; without values unless they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.result import Timing
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-records/1"
Signature = tuple[int, ...]
"""How many minimal sample uniques of 1, 2, … columns a record has."""


@dataclass(frozen=True)
class Scores:
    """The scores of one record.

    Args:
        suda: Σ over its minimal sample uniques of Π_{i=k..M}(A−i), k = their size; a size of A counts 1.
        ihsn: Σ of (2^(A−k) − 1)/C(A,k).
        dis_suda, dis_ihsn: DIS-SUDA from these scores, between 0 and 1.
    """

    suda: Fraction
    ihsn: Fraction
    dis_suda: float
    dis_ihsn: float


@dataclass(frozen=True)
class IndividualRisk:
    """Re-identification risk of rows given their sampling weights (Franconi and Polettini, 2004).

    Args:
        expected: Σ of the rows' risks, the number of rows expected to be re-identified.
        highest: the largest risk of a row. mean: expected / rows.
        above: rows whose risk exceeds a threshold, by threshold.
    """

    expected: float
    highest: float
    mean: float
    above: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The risk as the JSON has it."""
        return {"expected": self.expected, "highest": self.highest, "mean": self.mean, "rows_above": dict(self.above)}


@dataclass(frozen=True)
class TopRecord:
    """One of the records with the highest scores, by the values of its key columns."""

    key: tuple[Any, ...]
    uniques: Signature
    scores: Scores


@dataclass(frozen=True)
class RecordRisk(Shown):
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
        risk: individual risk. weights: the column of sampling weights, None = the file was taken for the population.
        top: the records with the highest scores; empty unless values may be shown.
        key: the columns of `top`. engine, time, statements, versions: as in an audit.
    """

    shown_by: ClassVar = "sqlaudit.column_sets.records.report:records_document"

    target: str
    columns: tuple[str, ...]
    rows: int
    unique_rows: int
    paired_rows: int
    max_size: int
    nulls: str
    fraction: Fraction
    file_dis: Fraction
    uniques_by_size: tuple[int, ...]
    records: int
    scores: tuple[tuple[Signature, int, Scores], ...]
    contributions: tuple[tuple[str, Fraction], ...]
    by_set: tuple[tuple[tuple[str, ...], int], ...]
    risk: IndividualRisk
    top: tuple[TopRecord, ...] = ()
    key: tuple[str, ...] = ()
    weights: str | None = None
    engine: str = ""
    time: str = ""
    statements: tuple[Timing, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""

    @property
    def highest(self) -> Scores | None:
        """The scores of the most special record."""
        return self.scores[0][2] if self.scores else None

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`sqlaudit/column_sets/records/schema.json`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "engine": self.engine,
            "target": self.target,
            "columns": list(self.columns),
            "rows": self.rows,
            "unique_rows": self.unique_rows,
            "paired_rows": self.paired_rows,
            "max_size": self.max_size,
            "nulls": self.nulls,
            "sampling_fraction": float(self.fraction),
            "file_dis": float(self.file_dis),
            "minimal_sample_uniques": [
                {"size": size, "count": count} for size, count in enumerate(self.uniques_by_size, 1)
            ],
            "records_with_minimal_sample_uniques": self.records,
            "scores": [
                {"minimal_sample_uniques": list(signature), "records": count, **_scores(scores)}
                for signature, count, scores in self.scores
            ],
            "contributions": [{"column": name, "share": float(share)} for name, share in self.contributions],
            "sets": [{"columns": list(names), "records": count} for names, count in self.by_set],
            "weights": self.weights,
            "individual_risk": self.risk.to_dict(),
            "key": list(self.key),
            "top": [
                {"key": [None if v is None else str(v) for v in record.key], **_scores(record.scores)}
                for record in self.top
            ],
            "statements": [timing.to_dict() for timing in self.statements],
        }


def _scores(scores: Scores) -> dict[str, float]:
    return {
        "suda": float(scores.suda),
        "suda_ihsn": float(scores.ihsn),
        "dis_suda": scores.dis_suda,
        "dis_suda_ihsn": scores.dis_ihsn,
    }
