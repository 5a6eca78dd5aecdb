"""Values that are equal and yet written differently: they count as one, and who reads the table tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.dialects import spoken
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.result import Warned
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine

_ADVICE = (
    "they count as one value here, and whoever reads the table as text tells them apart. Write the values in one way "
    "before the table is published, or audit their texts (docs/equality.md)."
)


def equal_text_statement(engine: Engine, relation: Relation, roles: Sequence[Resolved], first: int) -> list[Statement]:
    """The statement that counts such values among the first rows; none where no column can have any."""
    columns = [Raw(role.sql) for role in roles if _may_differ(role, relation, engine.dialect)]
    if not columns:
        return []
    source = Raw(relation.sql)
    return [render("profiles/equal_texts.sql", engine.dialect, columns=columns, source=source, first=first)]


def equal_text_warnings(engine: Engine, relation: Relation, roles: Sequence[Resolved], first: int) -> list[Warned]:
    """Warnings with the code `equal_but_written_differently`, one a column.

    Args:
        engine, relation: where the table is. roles: quasi-identifiers and sensitive attributes. first: the rows that
            are looked at.
    """
    asked = [role for role in roles if _may_differ(role, relation, engine.dialect)]
    counts = {
        int(column): int(count)
        for statement in equal_text_statement(engine, relation, roles, first)
        for column, count in engine.run(statement)
    }
    found = [_counted(role.label, counts[i]) for i, role in enumerate(asked) if counts.get(i)]
    return [*found, *(_by_type(role.label) for role in roles if role.column in relation.respelled)]


def _may_differ(role: Resolved, relation: Relation, dialect: str) -> bool:
    """Whether values of this type can be equal and have several texts; of an expression the type is not known."""
    if role.column is None or role.column in relation.respelled:
        return False
    if role.kind is Kind.DECIMAL:
        return spoken(dialect).loose_decimals and "(" not in role.type
    if role.kind is Kind.OTHER:
        return not role.type.lower().startswith(("bytea", "blob", "binary", "bit", "variant", "geometry"))
    return role.kind is Kind.FLOAT or (role.kind is Kind.TEXT and "COLLATE" in role.type.upper())


def _counted(name: str, count: int) -> Warned:
    number = "1 value is" if count == 1 else f"{count:,} values are"
    return Warned(
        "equal_but_written_differently",
        (name,),
        f"{name}: {number} written in several ways that are equal to the database (as 1.0 and 1.00, or -0 and 0): "
        + _ADVICE,
    )


def _by_type(name: str) -> Warned:
    return Warned(
        "equal_but_written_differently",
        (name,),
        f"{name} has a collation or a type by which values are equal that are written differently (as A and a): "
        + _ADVICE,
    )
