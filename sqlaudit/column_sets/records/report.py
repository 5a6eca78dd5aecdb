"""The report on single records: how special they are, and which columns make them so."""

from __future__ import annotations

from collections.abc import Iterator

from sqlaudit.base.words import spelled
from sqlaudit.column_sets.records.result import RecordRisk, RiskThreshold
from sqlaudit.column_sets.report import READS
from sqlaudit.reports.blocks import Bullets, Column, Facts, Table, Toned, Words
from sqlaudit.reports.document import About, Document, section
from sqlaudit.reports.figures import count, figure, limit, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

_MOST = 20


def records_document(result: RecordRisk, suda: bool = True) -> Document:
    """Per-record uniqueness as a document for any layout; `suda` says whether scores are told."""
    return Document(
        Toned(f"{result.target}: {plural(result.records, 'special record')} of {count(result.rows)}"),
        (Bullets(tuple(_lead(result, suda))),),
        (
            *section("Which columns make records special", _contributions(result) if suda else None),
            *section("Column sets that single out most records", _sets(result)),
            *section("Scores", _scores(result) if suda else None),
            *section("Individual risk", _risk(result), _homes(result), _thresholds(result)),
            *section("The most special records", _top(result, suda)),
            *section("How it was measured", _how(result)),
            *sql_section(result),
        ),
        about=About(result.target, result.time),
    )


def _lead(result: RecordRisk, suda: bool) -> Iterator[Words]:
    share = part(result.records, result.rows)
    columns, records = len(result.columns), plural(result.records, "record")
    sizes = f"{count(result.max_size)} or fewer of the {count(columns)}" if columns > 1 else "the only column"
    yield (
        f"{records}{f' ({share})' if share else ''} {'is' if result.records == 1 else 'are'} unique on {sizes}"
        f"{' columns' if columns > 1 else ''}."
    )
    unique, paired = plural(result.unique_rows, "record"), plural(result.paired_rows, "record")
    yield (
        f"{unique} {'is' if result.unique_rows == 1 else 'are'} unique on all columns together; {paired} "
        f"{'shares its values' if result.paired_rows == 1 else 'share their values'} with exactly one other."
    )
    if suda and result.highest is not None:
        yield f"The most special record has a DIS-SUDA score of {figure(result.highest.dis_suda)}."
    yield _expected(result)


def _expected(result: RecordRisk) -> Words:
    """What the sum of the risks says, and for which attacker."""
    expected = f"{_about(result.risk.expected)} expected to be re-identified (individual risk)"
    if result.weights is not None:
        return f"{expected[0].upper()}{expected[1:]}, as {result.weights} says how many people a row stands for."
    if result.of_sample:
        return f"{expected[0].upper()}{expected[1:]}, as the file is {percent(result.fraction)} of its population."
    return Toned(
        f"If the file is the whole population, {expected}: no weights were named.",
        hint=f"Where it is a sample, name the column that says how many people a row stands for with "
        f"{spelled('weights')}, or its share with {spelled('sampling_fraction')}.",
    )


def _about(expected: float) -> str:
    """So many records, and the verb: `about 1 record is`."""
    return f"about {figure(expected)} {'record is' if expected == 1 else 'records are'}"


def _contributions(result: RecordRisk) -> Table:
    ranked = sorted(result.contributions, key=lambda item: (-item[1], item[0]))
    rows = tuple((name, percent(share)) for name, share in ranked if share)
    return Table((Column("Column"), Column("Share of the SUDA score in sets with it", True)), rows)


def _sets(result: RecordRisk) -> Table:
    rows = tuple((", ".join(names), count(number)) for names, number in result.by_set[:_MOST])
    return Table((Column("Columns"), Column("Records", True)), rows)


def _scores(result: RecordRisk) -> Table:
    columns = (Column("Records", True), Column("SUDA", True), Column("DIS-SUDA", True), Column("IHSN", True))
    rows = tuple(
        (count(number), figure(one.suda), figure(one.dis_suda), figure(one.ihsn))
        for _, number, one in result.scores[:_MOST]
    )
    return Table(columns, rows, "The highest scores, and how many records have them.")


def _risk(result: RecordRisk) -> Table:
    rows = tuple((f"above {threshold}", count(number)) for threshold, number in result.risk.above.items())
    caption = f"Highest {figure(result.risk.highest)}, mean {figure(result.risk.mean)}."
    return Table((Column("Risk"), Column("Records", True)), rows, caption)


def _homes(result: RecordRisk) -> Table | None:
    """The risk that at least one member of a household is found."""
    homes = result.household
    if homes is None:
        return None
    rows = tuple((f"above {threshold}", count(number)) for threshold, number in homes.above.items())
    said = f"{_about(homes.expected)} expected to be re-identified, themselves or by who lives with them"
    caption = (
        f"Households by {homes.column}, {count(homes.households)} of them: highest {figure(homes.highest)}, mean "
        f"{figure(homes.mean)}; {said}."
    )
    return Table((Column("Household risk"), Column("Records", True)), rows, caption)


def _thresholds(result: RecordRisk) -> Bullets:
    """Above which risk records have to be protected, so that the file keeps the wanted global risk."""
    risks = (("individual risk", result.risk), ("household risk", result.household))
    told = [(kind, risk.mean, risk.threshold) for kind, risk in risks if risk is not None]
    return Bullets(tuple(_threshold(kind, mean, one, result.rows) for kind, mean, one in told if one is not None))


def _threshold(kind: str, mean: float, threshold: RiskThreshold, rows: int) -> str:
    wanted, subject = limit(threshold.most), f"{kind[0].upper()}{kind[1:]}"
    if not threshold.rows:
        return f"{subject}: its mean is {figure(mean)}, at most {wanted} as wanted; no record has to be protected."
    homes = f" in {plural(threshold.households, 'household')}" if threshold.households is not None else ""
    above = f"{plural(threshold.rows, 'record')}{homes}"
    if threshold.risk is None:
        return f"{subject}: every risk is too high for a mean of {wanted}; all of {above} have to be protected."
    share, risk = part(threshold.rows, rows), figure(threshold.risk, 6)
    are = "is" if threshold.rows == 1 else "are"
    return (
        f"{subject}: {above} ({share}) {are} above {risk}. Protected down to that, they leave a mean of "
        f"{figure(threshold.remaining)}, at most {wanted} as wanted."
    )


def _top(result: RecordRisk, suda: bool) -> Table:
    scores = (Column("SUDA", True), Column("DIS-SUDA", True)) if suda else ()
    rows = tuple(
        (
            *("" if value is None else str(value) for value in one.key),
            *((figure(one.scores.suda), figure(one.scores.dis_suda)) if suda else ()),
        )
        for one in result.top
    )
    return Table((*(Column(name) for name in result.key), *scores), rows)


def _how(result: RecordRisk) -> Facts:
    return Facts(
        (
            ("rows", count(result.rows)),
            ("columns", ", ".join(result.columns)),
            ("largest set searched", plural(result.max_size, "column")),
            ("sampling fraction", limit(result.fraction)),
            ("disclosure score of the file (DIS)", figure(float(result.file_dis))),
            ("missing values", f"never part of a special set; elsewhere {READS[result.nulls]}"),
            *made(result),
        )
    )
