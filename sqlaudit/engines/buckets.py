"""A bucketized release as one relation: its persons with their buckets, and the sensitive values of each bucket.

Which person of a bucket has which of its values was permuted away, and everybody's quasi-identifiers are published as
they are. So what is left to count is the histogram of each bucket, and the bucket is the equivalence class. The
relation has the columns of the second table, one row a person of the first. Source: Martin et al., Worst-Case
Background Knowledge, ICDE 2007, sections 2.1 and 2.2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest, quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import Buckets, Target
from sqlaudit.base.sql import Raw, render

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine


def of_buckets(engine: Engine, target: Target, buckets: Buckets) -> Relation:
    """The sensitive values of a bucketized release with their buckets, one row a person.

    Args:
        engine: where both tables lie. target: the persons. buckets: the values.

    Raises:
        UsageError: a column that is not there, or tables that are not the two of one release.
    """
    persons, values = engine.open(replace(target, buckets=None)), engine.open(buckets.target(target.read))
    dialect = engine.dialect
    buckets_of_persons = _column(buckets.column, persons, "bucket_column")
    bucket = _column(buckets.column, values, "bucket_column")
    counted = _column(buckets.count, values, "bucket_count") if buckets.count else None
    if buckets_of_persons.kind is not bucket.kind:
        raise UsageError(
            f"{bucket.name} is {buckets_of_persons.kind} in {persons.label} but {bucket.kind} in {values.label}. Give "
            "the column of buckets one type in both tables."
        )
    if counted is not None and counted.kind is not Kind.INTEGER:
        raise UsageError(f"{counted.name} of {values.label} must have whole numbers, but is {counted.kind}.")
    rest = tuple(column for column in values.columns if column not in (bucket, counted))
    if not rest:
        raise UsageError(f"{values.label} has no column of sensitive values beside {bucket.name}.")
    names: dict[str, Any] = {
        "persons": Raw(persons.sql),
        "values": Raw(values.sql),
        "bucket_of_persons": Raw(quote(buckets_of_persons.name, dialect)),
        "bucket": Raw(quote(bucket.name, dialect)),
        "counted": Raw(quote(counted.name, dialect)) if counted else None,
    }
    _refuse_others(engine, names, persons.label, values.label)
    columns = (bucket, *rest)
    statement = render(
        "engines/buckets.sql",
        dialect,
        step="buckets",
        columns=[Raw(quote(column.name, dialect)) for column in columns],
        **names,
    )
    return Relation(
        f"({statement.sql})",
        columns,
        persons.label,
        tuple(dict.fromkeys((*persons.tables, *values.tables))),
        persons.parsed or values.parsed,
        remarks=tuple(dict.fromkeys((*persons.remarks, *values.remarks))),
        respelled=tuple(name for name in values.respelled if name in {column.name for column in columns}),
        bucket=bucket.name,
    )


def _column(name: str, relation: Relation, option: str) -> ColumnInfo:
    found = find_column(name, relation)
    if found is None:
        known = [column.name for column in relation.columns]
        raise UsageError(f"{about(option)}: {relation.label} has no column {name!r}.{closest(name, known)}")
    return found


def _refuse_others(engine: Engine, names: dict[str, Any], persons: str, values: str) -> None:
    """Nothing when each bucket has as many persons as values.

    Raises:
        UsageError: one has not.
    """
    statement = render("engines/buckets_differing.sql", engine.dialect, step="persons and values of buckets", **names)
    found = engine.run(statement)[0]
    alone, without, differing, missing, odd = (int(number or 0) for number in found)
    said = [
        (missing, "rows have no bucket"),
        (odd, f"rows of {values} have a count below 1, or none"),
        (alone, f"buckets of {persons} have no values in {values}"),
        (without, f"buckets of {values} have no people in {persons}"),
        (differing, "buckets have different numbers of people and values"),
    ]
    wrong = [f"{number:,} {what}" for number, what in said if number]
    if wrong:
        raise UsageError(
            f"{persons} and {values} are not the two tables of one bucketized release: {'; '.join(wrong)}. "
            f"Each bucket needs one row per person and as many values (or counts of values, named with "
            f"{spelled('bucket_count')})."
        )
