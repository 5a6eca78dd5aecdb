"""Making a view in PostgreSQL: a connection of its own, and one transaction that may write."""

from __future__ import annotations

from sqlaudit.base.errors import EngineError, MissingDriver, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.names import quote
from sqlaudit.base.sql import environment
from sqlaudit.base.whereabouts import whereabouts
from sqlaudit.engines.view import View, taken

try:
    import psycopg
except ImportError:
    raise MissingDriver("PostgreSQL needs the driver psycopg: pip install 'sqlaudit[postgres]'.") from None

from sqlaudit.engines.postgres.connect import connect
from sqlaudit.engines.postgres.errors import sentence

DURING = "making the view"


def make_view(db: str, view: View, replace: bool) -> None:
    """Make the view; see `create_view`."""
    connection = connect(whereabouts(db), None)
    try:
        connection.read_only = False
        with connection.transaction():
            _make(connection, view, replace)
    except psycopg.Error as error:
        raise _reason(error, view) from None
    finally:
        connection.close()


def _make(connection: psycopg.Connection[tuple[str, ...]], view: View, replace: bool) -> None:
    *schema, name = view.parts()
    usual = _pinned(connection)
    home = schema[0] if schema else usual
    look_up = environment().get_template("engines/postgres/kind_of.sql").render().encode()
    row = connection.execute(look_up, {"name": name, "schema": home}).fetchone()
    refusal = taken(view, row[0] if row else "", replace)
    if refusal is not None:
        raise refusal
    full = View(".".join(quote(part, "postgres") for part in (home, name)), view.select)
    if row:
        connection.execute(b"DROP VIEW " + full.quoted("postgres").encode())
    connection.execute(full.statement("postgres").encode())


def _pinned(connection: psycopg.Connection[tuple[str, ...]]) -> str:
    """The schema in which views are made; from now on names are looked up in pg_catalog alone.

    A view keeps the operators and functions that its names meant when it was made.
    """
    pin = environment().get_template("engines/postgres/pin_writer.sql").render().encode()
    row = connection.execute(pin).fetchone()
    return row[0] if row and row[0] else "public"


def _reason(error: psycopg.Error, view: View) -> SqlauditError:
    """What went wrong, in words for somebody who wants to write for once."""
    code = error.sqlstate or ""
    place = f"the schema {quote(view.parts()[0], 'postgres')}" if len(view.parts()) > 1 else "the schema"
    if code == "42501":
        return PermissionDenied(
            f"This role may not make the view {view.name!r}: it needs CREATE on {place}, SELECT on the table, and to "
            "own a view that it replaces."
        )
    if code == "25006":
        return EngineError(f"The server is read-only, so the view {view.name!r} cannot be made; name the primary.")
    if code == "3F000":
        return UsageError(f"There is no schema for the view {view.name!r}.")
    if code == "2BP01":
        return UsageError(f"Other views read {view.name!r}, so it is not replaced; choose another name.")
    return sentence(error, DURING)
