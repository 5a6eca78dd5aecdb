"""Several statements as one, where nothing can be kept: what they share is computed once, within that statement.

The answers stand side by side, each behind a column that marks its rows; so every column keeps its type, and no number
passes through a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.sql import environment

MARK = "sqlaudit_answer"
"""The column before each answer; it is NULL in the rows of the others."""


def together(statements: Sequence[Statement], shared: Sequence[str]) -> Statement:
    """One statement with the answers of several; FROM items that they share become relations of their own in it."""
    names = {item: f"sqlaudit_shared_{place}" for place, item in enumerate(shared, 1)}
    texts = [statement.sql for statement in statements]
    for item, name in names.items():
        texts = [text.replace(item, name) for text in texts]
    template = environment().get_template("engines/postgres/together.sql")
    step = ", ".join(dict.fromkeys(statement.name for statement in statements))
    return Statement(
        step, template.render(heading=step, shared=list(names.items()), statements=texts, mark=MARK).strip()
    )


def apart(cursor: psycopg.Cursor[Row]) -> list[list[Row]]:
    """The rows of each answer of such a statement, in its order."""
    marks = [place for place, column in enumerate(cursor.description or ()) if column.name == MARK]
    answers: list[list[Any]] = [[] for _ in marks]
    for row in cursor:
        for answer, begin, end in zip(answers, marks, [*marks[1:], len(row)], strict=True):
            if row[begin] is not None:
                answer.append(row[begin + 1 : end])
    return answers
