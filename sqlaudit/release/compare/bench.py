"""Where a comparison computes: what is counted in the database, and the workbench on which the counts are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlaudit.base.relation import Kind, Relation, Row, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.workbench import keep

PREFIX = "sqlaudit_release_"
_TYPES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "HUGEINT",
    Kind.FLOAT: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIME: "TIME",
}


def travels_as(kind: Kind) -> str:
    """DuckDB's type for values of a kind that come from another database; empty when they travel as texts."""
    return _TYPES.get(kind, "")


@dataclass
class Bench:
    """The engine of the tables, the workbench of the counts, and what is kept there.

    Args:
        engine: where original and release lie. workbench: the engine itself, or a DuckDB in memory.
        prefix: what the names of kept relations begin with. kept: these relations by the rest of their names.
    """

    engine: Engine
    workbench: Engine
    prefix: str = PREFIX
    kept: dict[str, Relation] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether the tables lie on the workbench themselves."""
        return self.engine is self.workbench

    def count(self, name: str, statement: Statement, columns: Sequence[tuple[str, str]]) -> Relation:
        """Keep counts from the tables on the workbench."""
        relation = keep(self.engine, self.workbench, self.prefix + name, statement, columns)
        return self._note(name, relation)

    def rows(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[Row]) -> Relation:
        """Keep rows of our own (codes, limits of queries) on the workbench."""
        return self._note(name, self.workbench.keep_rows(self.prefix + name, columns, [rows]))

    def make(self, name: str, template: str, step: str, **parameters: Any) -> Relation:
        """Keep what a template gives over relations of the workbench."""
        statement = render(template, self.workbench.dialect, step=step, **_spelled(parameters))
        return self._note(name, self.workbench.materialize(self.prefix + name, statement))

    def ask(self, template: str, step: str, **parameters: Any) -> list[Row]:
        """The rows that a template gives over relations of the workbench."""
        return self.workbench.run(render(template, self.workbench.dialect, step=step, **_spelled(parameters)))

    def tell(self, template: str, step: str, **parameters: Any) -> dict[str, Any]:
        """The one row that a template gives, by name."""
        statement = render(template, self.workbench.dialect, step=step, **_spelled(parameters))
        return dict(zip(self.workbench.result_names(statement), self.workbench.run(statement)[0], strict=True))

    def forget(self, *names: str) -> None:
        """Drop what is no longer needed."""
        for name in names:
            found = self.kept.pop(name, None)
            if found is not None:
                self.workbench.drop(self.prefix + name)

    def close(self) -> None:
        """Drop everything that was kept."""
        self.forget(*list(self.kept))

    def _note(self, name: str, relation: Relation) -> Relation:
        self.kept[name] = relation
        return relation


def _spelled(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: _item(value) for name, value in parameters.items()}


def _item(value: Any) -> Any:
    if isinstance(value, Relation):
        return Raw(value.sql)
    if isinstance(value, list | tuple):
        return [_item(one) for one in value]
    if isinstance(value, dict):
        return {key: _item(one) for key, one in value.items()}
    return value
