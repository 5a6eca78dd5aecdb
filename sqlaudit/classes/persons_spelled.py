"""Persons whose names differ only in case, spaces, or characters that nobody sees: who is named in two ways counts as
two persons, and a class seems larger than it is. Names are compared in the database: there are as many as persons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation, Statement
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.spellings import TEXTS
from sqlaudit.engines.contract import Engine

_UNSEEN = "\u00ad\u034f\u115f\u1160\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\u2800\u3164\ufeff\uffa0"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def as_read(sql: str, dialect: str) -> str:
    """The SQL of a person's name as a reader takes it.

    Args:
        sql: the name as it is written, in this dialect.
    """
    return expression("classes/as_read.sql", dialect, value=Raw(sql), unseen=_UNSEEN, spaces=_SPACES).strip()


class Naming(Protocol):
    """What names persons: a column or an expression."""

    @property
    def sql(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def type(self) -> str: ...


def may_be(entity: Naming) -> bool:
    """Whether it may name a person in several ways: a text, or an expression; a UUID is one, however it is written."""
    return entity.kind in TEXTS and entity.type.lower() != "uuid"


def respelled_statement(name: str, places: Sequence[tuple[str, str]], dialect: str) -> Statement:
    """How many persons are named in several ways.

    Args:
        name: how the user calls what names them. places: FROM items that have it, each with its expression there.
    """
    return render(
        "classes/persons_respelled.sql",
        dialect,
        step=f"spellings of {name}",
        as_read=Raw(as_read("person", dialect)),
        places=[{"source": Raw(source), "value": Raw(value)} for source, value in places],
    )


def planned(engine: Engine, relation: Relation, entity: Resolved | None) -> list[Statement]:
    """The statement that `respelled` runs for one table, if it runs any."""
    if entity is None or not may_be(entity):
        return []
    return [respelled_statement(entity.label, [(relation.sql, entity.sql)], engine.dialect)]


def respelled(engine: Engine, name: str, places: Sequence[tuple[str, str]]) -> int:
    """How many persons are named in several ways; see `respelled_statement`."""
    return int(engine.run(respelled_statement(name, places, engine.dialect))[0][0])


def refuse_respelled(
    engine: Engine, name: str, places: Sequence[tuple[Relation, Naming]], required: str, role: str = "entity"
) -> None:
    """Nothing, where every person has one name.

    Args:
        name: how the user calls what names them. places: tables, and what names persons in each.
        required: what is required, as the user wrote it.
        role: what the user calls who a row is about; empty where that would read as a part of a connection.

    Raises:
        UsageError: somebody has several, so that what is required would be found in spellings of persons.
    """
    if not any(may_be(naming) for _, naming in places):
        return
    if number := respelled(engine, name, [(relation.sql, naming.sql) for relation, naming in places]):
        found = f"what {required!r} finds where each counts as a person of its own need not be there"
        raise UsageError(f"{differ(name, number)}: {found}. {way_out(name, role)}")


def differ(name: str, number: int) -> str:
    """How what is said of such persons begins."""
    persons = "1 person is" if number == 1 else f"{number:,} persons are"
    return (
        f"{persons} named in several ways by {name}, which differ only in case, spaces or characters that nobody sees"
    )


def way_out(name: str, role: str = "entity") -> str:
    """What to do where persons are named in several ways."""
    expressions = f"lower(trim({name}))", f"md5({name})"
    one_way, apart = (spelled(role, expression) for expression in expressions) if role else expressions
    return (
        f"Name each in one way, as {one_way} does for case and spaces; or, if they are different persons, say so by an "
        f"expression that nobody reads: {apart}."
    )
