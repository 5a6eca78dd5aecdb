"""PostgreSQL, through psycopg 3: one read-only snapshot, nothing created, every statement stands alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from sqlaudit.engines.base import ColumnInfo, Engine, Kind, Relation, Row, Statement
from sqlaudit.errors import ConnectionFailed, EngineError, MissingDriver, UsageError
from sqlaudit.guard import guard_expression, guard_query, quote
from sqlaudit.spec import Limits, Target

try:
    import psycopg
    from psycopg import IsolationLevel
except ImportError:
    raise MissingDriver("PostgreSQL needs the driver psycopg: pip install 'sqlaudit[postgres]'.") from None

DIALECT = "postgres"


class PostgresEngine(Engine):
    """A connection to PostgreSQL in one REPEATABLE READ, READ ONLY transaction."""

    name = "PostgreSQL"
    dialect = DIALECT

    def __init__(self, db: str, limits: Limits | None = None) -> None:
        super().__init__(limits)
        try:
            self._connection = psycopg.connect(db, prepare_threshold=None, client_encoding="UTF8")
        except psycopg.Error:
            raise ConnectionFailed("PostgreSQL could not be reached, or did not let us in.") from None
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._connection.read_only = True

    def open(self, target: Target) -> Relation:
        """Resolve a target to a relation."""
        if target.frame is not None:
            raise UsageError("A frame is audited with DuckDB; leave out --db.")
        if target.query:
            source = "(" + guard_query(target.query, DIALECT).sql(dialect=DIALECT) + ") AS target"
        else:
            source = ".".join(quote(part.strip('"'), DIALECT) for part in target.relation.split("."))
        if target.where:
            condition = guard_expression(target.where, DIALECT, "--where").sql(dialect=DIALECT)
            source = "(SELECT * FROM " + source + " WHERE " + condition + ") AS target"
        cursor = self._execute("SELECT * FROM " + source + " LIMIT 0")
        columns = tuple(ColumnInfo(c.name, c.type_display, _kind(c.type_display)) for c in cursor.description or ())
        sql = source.removesuffix(" AS target")
        return Relation(sql, columns, target.name, (target.relation,) if target.relation else ())

    def _execute(self, sql: str) -> psycopg.Cursor[Row]:
        try:
            return self._connection.execute(sql.encode())
        except psycopg.Error as error:
            raise EngineError(f"PostgreSQL could not run the statement ({error.sqlstate}).") from None

    def run(self, statement: Statement) -> list[Row]:
        """All rows of a statement."""
        begun = time.monotonic()
        rows = self._execute(statement.sql).fetchall()
        self.record(statement, time.monotonic() - begun)
        return rows

    def stream(self, statement: Statement, batch: int = 10_000) -> Iterator[list[Row]]:
        """The rows of a statement in batches."""
        begun = time.monotonic()
        with self._connection.cursor(name="sqlaudit") as cursor:
            cursor.execute(statement.sql.encode())
            while rows := cursor.fetchmany(batch):
                yield rows
        self.record(statement, time.monotonic() - begun)

    def result_names(self, statement: Statement) -> Sequence[str]:
        """The column names of a statement's result."""
        cursor = self._execute("SELECT * FROM (" + statement.sql + ") AS statement LIMIT 0")
        return [column.name for column in cursor.description or ()]

    def explain(self, statement: Statement) -> str:
        """PostgreSQL's plan."""
        return "\n".join(row[0] for row in self._execute("EXPLAIN " + statement.sql).fetchall())

    def version(self) -> str:
        """For instance `PostgreSQL 18.4`."""
        return "PostgreSQL " + self._connection.info.parameter_status("server_version").split(" ")[0]  # type: ignore[union-attr]

    def cancel(self) -> None:
        """Stop the running statement."""
        self._connection.cancel_safe()

    def close(self) -> None:
        """Roll back and release the connection."""
        self._connection.close()


_KINDS = {
    "bool": Kind.BOOLEAN,
    **dict.fromkeys(("int2", "int4", "int8"), Kind.INTEGER),
    "numeric": Kind.DECIMAL,
    **dict.fromkeys(("float4", "float8"), Kind.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "citext"), Kind.TEXT),
    "date": Kind.DATE,
    **dict.fromkeys(("timestamp", "timestamptz"), Kind.TIMESTAMP),
    **dict.fromkeys(("time", "timetz"), Kind.TIME),
}


def _kind(type_name: str) -> Kind:
    return _KINDS.get(type_name.split("(", maxsplit=1)[0], Kind.OTHER)
