"""Tables behind a connection to DuckDB that the caller has open, read through a session of our own.

Our statements never run over theirs: its settings would change what these mean, and what an audit keeps would lie in
its database. What is asked of theirs is one SELECT a target, in a read-only transaction of a cursor of its own, whose
rows pass into ours in batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlaudit.base.errors import EngineError
from sqlaudit.base.guard import guard_query
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines.duckdb.catalog import Name, find, unknown
from sqlaudit.engines.duckdb.catalog import spelled as in_sql
from sqlaudit.engines.duckdb.driver import duckdb
from sqlaudit.engines.duckdb.engine import DuckDBEngine
from sqlaudit.engines.duckdb.errors import ErrorPlace, translate
from sqlaudit.engines.duckdb.paths import exists
from sqlaudit.engines.duckdb.session import DIALECT

LABEL = "the database of an open connection"
_TABLES = """
SELECT database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal
ORDER BY ALL
"""


class ConnectedDuckDB(DuckDBEngine):
    """A DuckDB of our own beside an open connection; nothing changes behind that.

    Args:
        connection: an open connection; what only it sees (temporary tables, registered frames) can be read as well.
        limits, targets: as for `DuckDBEngine`.

    Raises:
        EngineError: the connection is closed.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, limits: Limits | None = None, targets: Sequence[Target] = ()
    ) -> None:
        super().__init__(None, limits, [target for target in targets if not target.query])
        self._theirs = connection
        try:
            self._cursor = connection.cursor()
            self._session.watch(self._cursor)
            self._cursor.execute("BEGIN TRANSACTION READ ONLY")
            self._seen = self._tables(self._cursor)
        except duckdb.Error:
            self.close()
            raise EngineError(f"The connection of {spelled('db')} is closed, or does not answer.") from None

    def open(self, target: Target) -> Relation:
        """Resolve a target: a table, view or query of the connection, a file, or a frame.

        Raises:
            UsageError: no such table or file, or a query that is not one SELECT.
            EngineError: the connection is busy with a result that was not fetched to its end.
        """
        if target.buckets is not None:
            from sqlaudit.engines.buckets import of_buckets

            return of_buckets(self, target, target.buckets)
        if target.frame is not None:
            return super().open(target)
        if target.query:
            return self._opened(target, self._cursor, guard_query(target.query, DIALECT).sql(dialect=DIALECT))
        name = find(target.relation, self._seen, LABEL)
        if name is not None:
            return self._opened(target, self._cursor, "SELECT * FROM " + in_sql(name))
        own = self._only_theirs()
        name = find(target.relation, own, LABEL)
        if name is not None:
            return self._opened(target, self._theirs, "SELECT * FROM " + in_sql(name))
        if not exists(target.relation):
            raise unknown(target.relation, [*self._seen, *own], LABEL)
        return super().open(target)

    def access(self) -> str:
        """What it may do, for reports."""
        return "read only, beside an open connection of the caller's"

    def _only_theirs(self) -> list[Name]:
        """Tables that the connection sees and a cursor of it does not: temporary ones, and registered frames."""
        try:
            return [name for name in self._tables(self._theirs) if name not in self._seen]
        except duckdb.Error as error:
            raise translate(error, ErrorPlace("open")) from None

    def _opened(self, target: Target, connection: duckdb.DuckDBPyConnection, sql: str) -> Relation:
        try:
            found = connection.sql(sql)
        except duckdb.Error as error:
            raise translate(error, ErrorPlace("open " + target.name)) from None
        return super().open(replace(target, relation="", query="", frame=found, label=target.name))

    @staticmethod
    def _tables(connection: duckdb.DuckDBPyConnection) -> list[Name]:
        return [(row[0], row[1], row[2]) for row in connection.sql(_TABLES).fetchall()]
