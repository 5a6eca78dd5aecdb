"""A view that somebody asked for."""

from __future__ import annotations

from dataclasses import dataclass

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import quote, split_name
from sqlaudit.base.sql import environment
from sqlaudit.base.words import spelled


@dataclass(frozen=True)
class View:
    """A view to be made.

    Args:
        name: as a user writes it: `release`, `public."odd name"`. select: the SELECT behind it, in the database's SQL.
    """

    name: str
    select: str

    def parts(self) -> tuple[str, ...]:
        """The schema, if one was named, and the view.

        Raises:
            UsageError: the text is no such name.
        """
        parts = split_name(self.name)
        if len(parts) > 2:
            raise UsageError(f"{self.name!r} should be a view's name, or schema.view.")
        return parts

    def quoted(self, dialect: str) -> str:
        """The quoted name."""
        return ".".join(quote(part, dialect) for part in self.parts())

    def statement(self, dialect: str) -> str:
        """CREATE VIEW, in one dialect.

        Example:
            >>> print(View("release", "SELECT 1 AS one").statement("duckdb"))
            CREATE VIEW "release" AS
            SELECT 1 AS one
        """
        template = environment().get_template("engines/publish_view.sql")
        return template.render(name=self.quoted(dialect), select=self.select, dialect=dialect).strip()


def taken(view: View, kind: str, replace: bool) -> UsageError | None:
    """What to say of a name that is in use, None when that may be replaced.

    Args:
        view: what is to be made. kind: what has the name: empty = nothing, else `view`, `table` ...
    """
    if not kind or (kind == "view" and replace):
        return None
    if kind == "view":
        return UsageError(
            f"There is a view {view.name!r} already; {spelled('replace_view', True)} replaces it, or choose "
            "another name."
        )
    return UsageError(f"There is a {kind} {view.name!r}, which is never replaced; choose another name.")
