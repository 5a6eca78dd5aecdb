"""Doubts about the figures of synthetic data: what hides copies or disclosure, and a holdout of the same people.

Rows that equal no row of the original may still be copies: of values in another spelling or unit, rounded or shifted.
So where a requirement on copies is met, unique rows of the original are looked for without the columns that may hide
them. A requirement passes only where nothing was found that casts doubt on its figure.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Kind
from sqlaudit.base.result import Warned
from sqlaudit.base.sql import expression
from sqlaudit.classes.opening import fold
from sqlaudit.models.registry import OF_SYNTHETIC
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.synthetic.chance import ColumnOverlap, UniqueRows
from sqlaudit.release.synthetic.counting import ComparedTable, Counting
from sqlaudit.release.synthetic.result import SyntheticFigures
from sqlaudit.reports.document import listed, percent, plural


@dataclass(frozen=True)
class Doubts:
    """Why requirements may not pass.

    Args:
        unmatched: roles of which too few synthetic rows have a value of the original.
        hiding: roles without a value in both tables, which hide every copy.
        copies: how many synthetic rows are copies but for some columns, and a sentence on each such set of columns.
        holdout: why the holdout may not be people outside; empty where nothing shows it.
    """

    unmatched: tuple[str, ...]
    hiding: tuple[str, ...]
    copies: tuple[tuple[int, str], ...]
    holdout: str


def find_doubts(counting: Counting, overlaps: Sequence[ColumnOverlap], figures: SyntheticFigures) -> Doubts:
    """Look for what casts doubt on the figures of a comparison.

    Args:
        counting: the tables, without columns that hide every copy.
        overlaps: how far the values of each column occur in both tables, first the roles.
        figures: the figures of the comparison.
    """
    roles = overlaps[: len(counting.tables[0].roles)]
    return Doubts(
        unmatched=tuple(column.name for column in roles if column.says_too_little),
        hiding=tuple(column.name for column in roles if column.is_unmatched and not column.may_be_drawn),
        copies=tuple(_hidden_copies(counting, overlaps)) if _asks_for_copies(counting.request, figures) else (),
        holdout=_doubt_of_holdout(counting, figures),
    )


def _asks_for_copies(request: CompareRequest, figures: SyntheticFigures) -> bool:
    """Return True if a requirement on copies is met as far as rows that are equal in all columns go."""
    models = ((OF_SYNTHETIC[requirement.model], requirement) for requirement in request.requirements)
    limits = (requirement.parameters[model.main] for model, requirement in models if model.limits_copies)
    return bool(figures.copies.columns) and any(figures.copies.rows <= limit for limit in limits)


def _hidden_copies(counting: Counting, overlaps: Sequence[ColumnOverlap]) -> Iterator[tuple[int, str]]:
    """Look for unique rows of the original in the synthetic table, without columns that may hide copies.

    Texts count as one in every spelling, and what is no number as missing. Numbers that may be drawn by chance are
    left out, and compared by their position among all, which a shift or rounding hardly changes. Yield for each set of
    columns without which too many rows are copied the number of these rows, and a sentence.
    """
    tables = counting.tables[:2]
    columns = [[_plain(counting, column) for column in table.columns] for table in tables]
    labels = {column.label.casefold(): column.label for column in tables[0].columns}
    suspects = {labels[column.name.casefold()]: column for column in overlaps if column.name.casefold() in labels}
    suspects = {name: column for name, column in suspects.items() if column.may_hide_copies}
    hardly_matched = frozenset(name for name, column in suspects.items() if column.is_hardly_matched)
    # What is left out: nothing, each suspect alone, all that hardly match, all suspects
    left_out_sets = [frozenset[str](), *(frozenset([name]) for name in suspects), hardly_matched, frozenset(suspects)]
    for left_out in dict.fromkeys(left_out_sets):
        places = [index for index, label in enumerate(labels.values()) if label not in left_out]
        if not places:
            continue
        step = f"copies but for {listed(sorted(left_out))}" if left_out else "copies in any spelling"
        unique_rows = counting.unique_rows(1, [[side[index] for index in places] for side in columns], step)
        if unique_rows.are_copied:
            yield unique_rows.hit_rows, _hidden_copies_sentence(unique_rows, sorted(left_out))
    if drawn := [name for name, column in suspects.items() if column.may_be_drawn]:
        shifted = [
            [_position(counting, table, column) if column.label in drawn else column for column in side]
            for table, side in zip(tables, columns, strict=True)
        ]
        unique_rows = counting.unique_rows(1, shifted, f"copies with shifted numbers in {listed(drawn)}")
        if unique_rows.are_copied:
            yield unique_rows.hit_rows, _hidden_copies_sentence(unique_rows, drawn)


def _plain(counting: Counting, column: Resolved) -> Resolved:
    """Return a column with texts in one spelling, and NULL for empty texts and for what is no number."""
    dialect = counting.engine.dialect
    if column.kind is Kind.TEXT:
        return replace(column, sql=fold(column.sql, dialect, missing=True))
    if column.kind is Kind.FLOAT:
        return replace(column, sql=expression("release/synthetic/number.sql", dialect, column=column))
    return column


def _position(counting: Counting, table: ComparedTable, column: Resolved) -> Resolved:
    """Return the position of a number among those of its table."""
    sql = expression("release/synthetic/position.sql", counting.engine.dialect, column=column, source=table.relation)
    return replace(column, sql=sql)


def _hidden_copies_sentence(unique_rows: UniqueRows, names: Sequence[str]) -> str:
    rows = (
        f"{plural(unique_rows.hit_rows, 'synthetic row equals', 'synthetic rows equal')} a unique row of the original"
    )
    if not names:
        return f"{rows} but for spelling and missing values. Use {spelled('values', 'fold')} to count them as copies"
    columns = listed(names)
    return f"{rows} but for {columns}. Leave {columns} out of the synthetic table to count them as copies"


def _doubt_of_holdout(counting: Counting, figures: SyntheticFigures) -> str:
    """Return why the holdout may not be people outside who were drawn as those inside; empty where nothing shows it."""
    holdout = figures.holdout
    if holdout is None or not figures.rows.holdout or not figures.rows.original:
        return ""
    first, last = counting.tables[0], counting.tables[2]
    for columns in ([table.roles for table in (first, last)], [table.columns for table in (first, last)]):
        rows = counting.unique_rows(2, columns, "unique rows in the holdout") if columns[0] else None
        if rows is None or not rows.once:  # no one is unique, so that equal rows may be of different people
            continue
        if rows.are_copied or rows.are_too_equal:
            return (
                f"{rows.hit:,} of the {plural(rows.once, 'unique row')} of the original and {holdout.shared:,} of the "
                f"{plural(figures.rows.holdout, 'row')} of the holdout are in the other table, or both have the same "
                "counts: more than with different people, so the holdout may not be people outside"
            )
    highs = [excess.high for excess in holdout.excess if excess.measure in ("copies", "disco")]
    if any(high is not None and high < 0 for high in highs):
        return (
            "the synthetic table discloses more about the holdout than about the original, so they were not drawn alike"
        )
    return ""


def warn_of_doubts(
    figures: SyntheticFigures, doubts: Doubts, hiding: Container[str], tables: Sequence[ComparedTable]
) -> Iterator[Warned]:
    """Yield what hides disclosure, or was not compared."""
    for name in doubts.unmatched:
        yield Warned(
            "no_shared_values", (name,), f"{name} has {_UNMATCHED}: another spelling or unit hides disclosure."
        )
    keys = tuple(key.label for key in tables[0].keys)
    if figures.rows.original > 1 and figures.rows.synthetic > 1 and figures.identity.uio == 1 == figures.identity.uis:
        sentence = (
            f"Every row is unique in its quasi-identifiers in both tables, and {percent(figures.identity.uiois)} of "
            f"the original's occur in the synthetic table. Compare numbers in widths with {spelled('hierarchies')}."
        )
        yield Warned("all_unique", keys, sentence)
    compared = {column.label.casefold() for column in tables[0].columns}
    left_out = [column.name for column in tables[1].relation.columns if column.name.casefold() not in compared]
    if hid := tuple(name for name in left_out if name in hiding):
        why = "new values in every row, or no value that is in both tables, hide copies"
        yield Warned("hides_copies", hid, f"Copies are looked for without {listed(hid)}: {why}.")
    if others := tuple(name for name in left_out if name not in hiding):
        why = "which another table lacks or has in another type"
        yield Warned("not_compared", others, f"Copies are looked for without {listed(others)}, {why}.")
    if doubt := doubts.holdout:
        yield Warned("holdout", (), f"{doubt[:1].upper()}{doubt[1:]}.")


_UNMATCHED = "no value, or hardly any, that is in both tables"


def unmatched_sentence(columns: Sequence[str]) -> str:
    """Return the doubt about columns with too few values of the original; empty without such columns."""
    return f"{listed(columns)} {'has' if len(columns) == 1 else 'have'} {_UNMATCHED}" if columns else ""
