"""How the sensitive values of the worst classes are spread, beside the whole table: a sentence, a picture, a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlaudit.audits.classes_report import key_text, unit_of, value_text
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.words import spelled
from sqlaudit.reports.blocks import Block, Column, Paragraph, Picture, Table, Toned
from sqlaudit.reports.figures import count, percent, plural

if TYPE_CHECKING:
    from sqlaudit.audits.distribution import ClassDistribution, SharedValue, WorstClasses

_WHOLE = "whole table"
_FAILING = "failing"
_MOST_DRAWN = 3


def distribution_blocks(result: AuditResult) -> Iterator[Block]:
    """Every sensitive attribute's worst classes; values are named where the result holds them, else by their rank."""
    for worst in result.worst_classes:
        titles = _titles(result, worst.classes)
        yield Paragraph(_sentence(result, worst))
        yield _picture(worst, titles)
        yield _table(worst, titles)


def _sentence(result: AuditResult, worst: WorstClasses) -> Toned:
    unit = unit_of(result)
    if worst.basis == _FAILING:
        which = f"Classes that fall short of a requirement on {worst.sensitive}, the largest first"
    else:
        which = f"The classes of at least two {unit}s in which {worst.sensitive} is least diverse"
    said = f"{which}: how often each value occurs in them and in the whole table."
    if unit == "person":
        said += " A person counts once for each value."
    if any(value.shown for value in worst.values):
        return Toned(said)
    return Toned(
        f"{said} Values are numbered from the most frequent one of the table on.",
        hint=f"{spelled('show_values', True)} names the values in the worst classes.",
    )


def _titles(result: AuditResult, classes: Sequence[ClassDistribution]) -> list[str]:
    """A heading for each class, no two alike."""
    titles: list[str] = []
    for found in classes:
        title = key_text(found.key) if found.key is not None else _sized(result, found)
        alike = sum(other == title or other.startswith(f"{title}, no. ") for other in titles)
        titles.append(f"{title}, no. {alike + 1}" if alike else title)
    return titles


def _sized(result: AuditResult, found: ClassDistribution) -> str:
    members = plural(found.size, unit_of(result))
    if result.classes.per_row:
        return f"{members} that match" + (f" (of {count(found.classes)} rows)" if found.classes > 1 else "")
    return f"class of {members}" if found.classes == 1 else f"{count(found.classes)} classes of {members}"


def _name(value: SharedValue) -> str:
    if value.rank is None:
        return plural(value.values, "other value")
    return value_text(value.value) if value.shown else f"value {value.rank}"


def _table(worst: WorstClasses, titles: Sequence[str]) -> Table:
    heads = (Column("value"), *(Column(title, True) for title in (_WHOLE, *titles)))
    columns = [[value.share for value in worst.values], *(found.shares for found in worst.classes)]
    rows = tuple(
        (_name(value), *(percent(column[place]) for column in columns)) for place, value in enumerate(worst.values)
    )
    return Table(heads, rows)


def _picture(worst: WorstClasses, titles: Sequence[str]) -> Picture:
    series = {_WHOLE: [float(value.share) for value in worst.values]}
    for title, found in zip(titles[:_MOST_DRAWN], worst.classes, strict=False):
        series[title] = [float(share) for share in found.shares]
    return Picture(
        "bars",
        f"How often each value of {worst.sensitive} occurs in the whole table and in its worst classes",
        {"names": [_name(value) for value in worst.values], "series": series, "share": True, "x": "share"},
    )
