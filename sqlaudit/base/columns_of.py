"""Columns and expressions that a user names, resolved to SQL over a relation."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from sqlaudit.base.errors import PermissionDenied, SqlauditError, UnknownColumn, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest_column, quote, shown, typed, unescaped, untyped, without_blanks
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import NUMBERS, ColumnInfo, Kind, Relation

MAX_EXPONENT = 30


@dataclass(frozen=True)
class Resolved:
    """A column or expression: the user's text, its SQL in the engine's dialect, and its kind and type if known.

    A column of an SPSS, Stata or SAS file also has its variable label.
    """

    label: str
    sql: str
    kind: Kind = Kind.OTHER
    column: str | None = None
    type: str = ""
    variable_label: str = ""

    @property
    def collated(self) -> bool:
        """True if it is a column of text, whose order depends on a collation."""
        return self.kind is Kind.TEXT and self.type.lower().startswith(("text", "char", "varchar", "citext", "name"))


def resolve(text: str, relation: Relation, dialect: str, option: str) -> Resolved:
    """Return the column called `text`, or else the expression that `text` is.

    An exact name wins, then a name that differs only in case (if there is one such), then an expression.

    Raises:
        UsageError: no such column (the message names the closest), or not an expression over columns; `MisreadError`,
            which is one, if a part of the expression would be ignored.
    """
    match = find_column(text, relation)
    if match is not None:
        _refuse_variant(match, option)
        return Resolved(text, quote(match.name, dialect), match.kind, match.name, match.type, match.label)
    if text.strip().replace("_", "a").isalnum():
        raise unknown_column(text, relation, option)
    try:
        return _expression(text, relation, dialect, option)
    except UsageError:
        # `Age in Years` is an expression as well, and may be meant as a name that has a line break or other blanks
        if any(without_blanks(column.name) == without_blanks(text) for column in relation.columns):
            raise unknown_column(text, relation, option) from None
        raise


def _expression(text: str, relation: Relation, dialect: str, option: str) -> Resolved:
    """Parse a text as an expression over the columns of a relation, and return it with its SQL.

    Raises:
        UsageError: the text is not an expression, reads no column, or compares a column of type VARIANT.
    """
    from sqlglot import exp  # slow to import, and not needed where roles are names of columns

    from sqlaudit.base.guard import MisreadError, RandomRowsError, guard_expression, kinds_of, remark_on, warn

    try:
        tree = guard_expression(text, dialect, option)
    except (MisreadError, RandomRowsError):
        raise
    except UsageError:
        raise unknown_column(text, relation, option) from None
    match = None
    for column in tree.find_all(exp.Column):
        match = find_column(column.name, relation) or find_column(unescaped(column.name), relation)
        if match is None:
            raise unknown_column(column.name, relation, option)
        # A VARIANT is safe only as the operand of a cast to another type (TRY_CAST is a CAST here), or of IS NULL
        operator = column.find_ancestor(exp.Cast, exp.Is)
        cast_to = operator.to.sql("duckdb") if isinstance(operator, exp.Cast) else ""
        if operator is None or operator.this.unnest() is not column or "VARIANT" in cast_to.upper():
            _refuse_variant(match, option)
        column.set("this", exp.to_identifier(match.name, quoted=True))
    if match is None:
        raise unknown_column(text, relation, option)
    warn(remark_on(tree, kinds_of(relation.columns), dialect, text))
    if isinstance(tree, exp.Column):
        return Resolved(text, tree.sql(dialect=dialect), match.kind, match.name, match.type, match.label)
    return Resolved(text, tree.sql(dialect=dialect))


def _refuse_variant(column: ColumnInfo, option: str) -> None:
    """Raise UsageError if the column compares as VARIANT, where 1 and 1.0 are one value, and a date is its midnight."""
    if "VARIANT" in column.type.upper():
        raise UsageError(
            f"{option}: {shown(column.name)} has the type VARIANT, in which 1 and 1.0 are equal, for example. "
            f"Name an expression that takes one of its types, such as CAST({column.name} AS VARCHAR)."
        )


def find_column(name: str, relation: Relation) -> ColumnInfo | None:
    """Return the column of this name: exact, or the only one that differs only in case; None if there is none.

    A name in double quotes may have escapes for what is not printable.

    Raises:
        UsageError: several columns differ from the name only in case.
    """
    bare = untyped(name)
    for candidate in dict.fromkeys((name, bare)):
        for column in relation.columns:
            if column.name == candidate:
                return column
    folded = [column for column in relation.columns if column.name.casefold() == bare.casefold()]
    if len(folded) > 1:
        names = " and ".join(shown(column.name) for column in folded)
        raise UsageError(f"{name!r} could be {names}. Write it exactly.")
    return folded[0] if folded else None


def columns_read(role: Resolved, relation: Relation, dialect: str) -> set[str]:
    """Return the columns of a relation that a column or expression reads."""
    if role.column is not None:
        return {role.column}
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(role.sql, dialect=dialect)
    matches = (find_column(column.name, relation) for column in tree.find_all(exp.Column))
    return {column.name for column in matches if column is not None}


def unknown_column(name: str, relation: Relation, option: str) -> SqlauditError:
    """Return the error for a column that does not exist, with the closest name."""
    if name in relation.unreadable:
        return PermissionDenied(f"{option}: this role may not read the column {name!r} of {relation.label}.")
    names = [column.name for column in relation.columns]
    if relation.bucket:
        others = ", ".join(typed(column) for column in names if column != relation.bucket)
        return UnknownColumn(
            f"{option}: the classes of a bucketized release are its buckets, so {name!r} cannot be named. Use "
            f"{spelled('qi', relation.bucket)}, the column of buckets. Its sensitive columns are: {others}."
        )
    listed = ", ".join(map(typed, names[:12])) + ("…" if len(names) > 12 else "")
    hint = closest_column(name, names) or f" It has: {listed}."
    if names == [f"column{number:0{len(str(len(names) - 1))}}" for number in range(len(names))]:
        hint += f" Line 1 was read as data. If it has the names, use {spelled('header', True)}."
    return UnknownColumn(f"{option}: {relation.label} has no column {name!r}.", hint)


def resolve_like(first: Resolved, relation: Relation, dialect: str, option: str) -> Resolved:
    """Return the column of another table that is compared with a column: of the same name or expression.

    Raises:
        UsageError: as `resolve`, or one holds floating-point numbers and the other exact ones, and comparing them for
            equality rounds.
    """
    match = resolve(first.label, relation, dialect, option)
    kinds = {first.kind, match.kind}
    if Kind.FLOAT in kinds and kinds & {Kind.INTEGER, Kind.DECIMAL}:
        raise UsageError(
            f"{option}: {first.label} is {first.kind.value}, and {match.kind.value} in {relation.label}, "
            "so different numbers may count as equal. Give it the same type in both tables."
        )
    return match


def as_parameter(value: str | None, role: Resolved, location: str) -> str | Decimal | None:
    """Return a value that a user wrote as a parameter: a number for a column of numbers, else text.

    Raises:
        UsageError: the column holds numbers and cannot hold this value; the message begins with the location.
    """
    if value is None:
        return None
    if role.kind is Kind.BOOLEAN:
        return value.casefold()
    if role.kind not in NUMBERS:
        return value
    try:
        number = Decimal(value if value.isascii() and "_" not in value else "")
    except InvalidOperation:
        raise UsageError(f"{location}: {role.label} has numbers, and this is not a number.") from None
    if not number.is_finite() or abs(number.adjusted()) > MAX_EXPONENT:
        raise UsageError(f"{location}: this number is not possible in {role.label}.")
    return number
