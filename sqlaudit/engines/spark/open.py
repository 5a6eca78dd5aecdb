"""From targets to relations: tables and views of the catalog, files, frames, queries and conditions."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlaudit.base.division import condition_remarks
from sqlaudit.base.errors import UsageError
from sqlaudit.base.guard import guard_expression, guard_query
from sqlaudit.base.names import closest, quote, split_name
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Target
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.hive import partition_columns, refuse_same
from sqlaudit.engines.spark import files as spark_files
from sqlaudit.engines.spark.exact import exact_schema
from sqlaudit.engines.spark.frames import arrow_table
from sqlaudit.engines.spark.values import columns_of

DIALECT = "spark"
Do = Callable[..., Any]


@dataclass(frozen=True)
class SparkOpener:
    """Opens targets in a session.

    Args:
        session: the engine's session.
        do: `do(during, work, names)` runs work on Spark and turns its errors into ours.
        keep: `keep(frame, stem)` makes a temporary view over a frame of Spark, and returns its quoted name.
        behind: what each temporary view is made of, as a FROM item that any session understands; empty = there is none.
    """

    session: Any
    do: Do
    keep: Callable[[Any, str], str]
    behind: dict[str, str] = field(default_factory=dict)

    def open(self, target: Target) -> Relation:
        """The relation of a target; see `Engine.open`."""
        where = guard_expression(target.where, DIALECT, about("where")) if target.where else None
        if target.query:
            return self._query(target, where)
        if target.frame is not None:
            spark_files.refuse_read_options(target.read, "a frame")
            source = self._frame(target.frame)
            frame = self.do("the frame", lambda: _analyzed(self.session.table(source)))
            return self._relation(target, source, (), frame, where)
        parts = self._table(target.relation)
        if parts is None:
            return self._file(target, where)
        spark_files.refuse_read_options(target.read, "a table")
        name = ".".join(quote(part, DIALECT) for part in parts)
        frame = self.do(f"the table {target.relation!r}", lambda: _analyzed(self.session.table(name)))
        return self._relation(target, name, (".".join(parts),), frame, where)

    def _relation(
        self,
        target: Target,
        source: str,
        tables: tuple[str, ...],
        frame: Any,
        where: exp.Expression | None,
        *,
        parsed: bool = False,
    ) -> Relation:
        _refuse_twins([field.name for field in frame.schema.fields], target.name)
        if where is not None:
            condition = where.sql(dialect=DIALECT)
            select = "SELECT * FROM " + source + " WHERE " + condition
            names = [field.name for field in frame.schema.fields]
            frame = self.do(spelled("where"), lambda: _analyzed(self.session.sql(select)), names)
            below = self.behind.get(source, source)
            source = self._kept(frame, "rows", below and "(SELECT * FROM " + below + " WHERE " + condition + ")")
        columns = columns_of(frame.schema)
        return Relation(
            source, columns, target.name, tables, parsed, remarks=condition_remarks(where, columns, DIALECT)
        )

    def _query(self, target: Target, where: exp.Expression | None) -> Relation:
        root = guard_query(target.query, DIALECT)
        spark_files.refuse_read_options(target.read, "a query")
        self._refuse_folders(root)
        text = root.sql(dialect=DIALECT, comments=False)
        frame = self.do(spelled("query"), lambda: _analyzed(self.session.sql(text)), self._known_in(root))
        tables = tuple(dict.fromkeys(".".join(part.name for part in table.parts) for table in _tables(root)))
        names = [field.name for field in frame.schema.fields]
        twice = [name for name, times in Counter(name.casefold() for name in names).items() if times > 1]
        if twice:
            raise UsageError(f"{spelled('query')} gives several columns the name {twice[0]!r}; name each once (AS).")
        return self._relation(target, self._kept(frame, "query", "(" + text + ")"), tables, frame, where)

    def _file(self, target: Target, where: exp.Expression | None) -> Relation:
        found = spark_files.files(target.relation, target.read)
        label = f"the file {target.relation!r}"
        frame = self.do(label, lambda: _analyzed(self._reader(found).load(found.path)))
        if target.read.hive_partitioning:
            self._refuse_same(found, frame, target.relation)
        if found.parsed and not target.read.all_text:
            schema = self.do(label, lambda: exact_schema(self._reader(found), found.format, frame.schema, found.path))
            if schema is not None:
                frame = self.do(label, lambda: _analyzed(self._reader(found).schema(schema).load(found.path)))
        behind = "" if spark_files.below_folders(frame.inputFiles()) else spark_files.from_item(found)
        source = self._kept(frame, "file", behind)
        return self._relation(target, source, (target.relation,), frame, where, parsed=found.parsed)

    def _reader(self, found: spark_files.SparkFiles) -> Any:
        return self.session.read.format(found.format).options(**found.options)

    def _inputs(self, found: spark_files.SparkFiles) -> list[str]:
        return list(self._reader(found).load(found.path).inputFiles())

    def _refuse_same(self, found: spark_files.SparkFiles, frame: Any, label: str) -> None:
        """Refuse a column that the files have, and their folders too: Spark would take the folders' values."""
        folders = partition_columns(spark_files.below_folders(frame.inputFiles()), label)
        if folders:
            alone = {name: value for name, value in found.options.items() if name != "basePath"} | spark_files.ALONE
            reader = self.session.read.format(found.format).options(**alone)
            inside = self.do(f"the file {label!r}", lambda: _analyzed(reader.load(found.path)))
            refuse_same([field.name for field in inside.schema.fields], folders, label)

    def _refuse_folders(self, root: exp.Query) -> None:
        """Refuse files of a query (parquet.`path`) in folders named `column=value`, which Spark takes for columns."""
        for table in _tables(root):
            if table.db.lower() not in spark_files.FORMATS or table.catalog:
                continue
            found = spark_files.SparkFiles(table.name, table.db.lower(), spark_files.ALONE)
            inputs = self.do(spelled("query"), partial(self._inputs, found))
            if spark_files.below_folders(inputs):
                raise UsageError(
                    f"{spelled('query')} reads files in folders named column=value, which Spark takes for "
                    "columns; name the "
                    f"files as the target, with {spelled('hive_partitioning', True)} if the folders are columns."
                )

    def _frame(self, frame: Any) -> str:
        """A view over a frame. One of Spark's own comes through a global view, since its session is another one."""
        if not type(frame).__module__.startswith("pyspark.sql"):
            table = arrow_table(frame)
            return self._kept(self.do("the frame", lambda: self.session.createDataFrame(table)), "frame", "")
        shared = "sqlaudit_" + uuid.uuid4().hex
        catalog = frame.sparkSession.catalog
        self.do("the frame", lambda: frame.createGlobalTempView(shared))
        try:
            schema = self.session.conf.get("spark.sql.globalTempDatabase", "global_temp")
            name = ".".join(quote(part, DIALECT) for part in (schema, shared))
            return self._kept(self.do("the frame", lambda: _analyzed(self.session.table(name))), "frame", "")
        finally:
            self.do("the frame", lambda: catalog.dropGlobalTempView(shared))

    def _kept(self, frame: Any, stem: str, behind: str) -> str:
        view = self.keep(frame, stem)
        self.behind[view] = behind
        return view

    def lasting(self, relation: Relation) -> str:
        """What a relation is in any session; see `Engine.lasting`.

        Raises:
            UsageError: it is a frame, or a text file, whose read options no FROM item of Spark holds.
        """
        found = self.behind.get(relation.sql, relation.sql)
        if not found:
            raise UsageError(
                f"{relation.label} is known to this session of Spark alone, so a view over it would not last: name a "
                "table, or a Parquet or ORC file."
            )
        return found

    def _table(self, name: str) -> tuple[str, ...] | None:
        """The parts of the name of a table or view that exists; none when it is a file's name.

        Raises:
            UsageError: neither a table nor like a file's name.
        """
        parts = _parts(name)
        if parts and self._exists(parts):
            return parts
        if spark_files.looks_like_path(name):
            return None
        hint = closest(name, self.known(parts[:-1]))
        raise UsageError(f"There is no table {name!r} in Spark's catalog.{hint}")

    def _exists(self, parts: Sequence[str]) -> bool:
        name = ".".join(quote(part, DIALECT) for part in parts)
        return bool(self.do("Spark's catalog", lambda: self.session.catalog.tableExists(name)))

    def known(self, schema: Sequence[str] = ()) -> list[str]:
        """The names of the tables and views of a schema, of the current one if none is named."""
        text = "SHOW TABLES" + (" IN " + ".".join(quote(part, DIALECT) for part in schema) if schema else "")
        try:
            rows = self.do("Spark's catalog", lambda: self.session.sql(text).collect())
        except UsageError:
            return []
        return [".".join((*schema, row["tableName"])) for row in rows]

    def _known_in(self, root: exp.Query) -> Callable[[str], Iterable[str]]:
        return lambda code: self.known() if code == "TABLE_OR_VIEW_NOT_FOUND" else ()


def _analyzed(frame: Any) -> Any:
    frame.schema  # noqa: B018  Spark Connect looks at names only now
    return frame


def _refuse_twins(names: Sequence[str], label: str) -> None:
    """Two names that differ in case alone are one to Spark, which would refuse each statement in its own words."""
    twice = [name for name, times in Counter(name.casefold() for name in names).items() if times > 1]
    if twice:
        raise UsageError(f"{label} has several columns called {twice[0]!r} (Spark ignores case); rename all but one.")


def _parts(name: str) -> tuple[str, ...]:
    """The parts of a table's name, with Spark's backticks or with double quotes; none for what is no name."""
    try:
        if "`" in name:
            return tuple(part.name for part in exp.to_table(name, dialect=DIALECT).parts)
        return split_name(name)
    except (UsageError, SqlglotError):
        return ()


def _tables(query: exp.Query) -> list[exp.Table]:
    """The tables that a query reads, without its own CTEs and functions."""
    own = {cte.alias for cte in query.find_all(exp.CTE)}
    tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    return [table for table in tables if table.args.get("db") or table.name not in own]


def bound(text: str, count: int) -> str:
    """The statement with its parameters $1, $2, … as Spark names them (:p1, :p2, …); not those within texts."""
    tokens = sqlglot.tokenize(text, dialect=DIALECT)
    pieces, at = [], 0
    for sign, number in pairwise(tokens):
        if sign.text == "$" and number.text.isdigit() and number.start == sign.end + 1 and int(number.text) <= count:
            pieces += [text[at : sign.start], ":p", number.text]
            at = number.end + 1
    return "".join([*pieces, text[at:]])
