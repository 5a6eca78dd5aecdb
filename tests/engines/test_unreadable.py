"""A column that the role may not read is not called missing."""

from __future__ import annotations

import pytest

from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import PermissionDenied
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.sql import Raw, render


def test_a_closed_column_is_named_as_such() -> None:
    relation = Relation("t", (ColumnInfo("age", "integer", Kind.INTEGER),), "clinic.visits", unreadable=("name",))
    with pytest.raises(PermissionDenied, match=r"may not read the column 'name' of clinic\.visits"):
        resolve("name", relation, "postgres", "--qi")


def test_every_subquery_has_a_name_on_postgresql() -> None:
    """Servers before version 16 refuse a subquery in FROM without one."""
    text = render("base/row_count.sql", "postgres", source=Raw("(SELECT 1 AS a)")).sql
    assert text.endswith("FROM (SELECT 1 AS a) AS source")
