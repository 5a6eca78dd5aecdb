"""What a table and its older releases must say together, as a policy writes it."""

from __future__ import annotations

from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node
from sqlaudit.base.paths import exists
from sqlaudit.base.spec import Roles, Target
from sqlaudit.gates.keys import POSITIVE, TEXT_OR_TEXTS, YES_OR_NO, Keys, described
from sqlaudit.gates.nodes import NO_TEXTS, Mistakes, flag, place_of, text, texts, whole
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import SeriesLimit

M_INVARIANCE = "m_invariance"
KEYS: Keys = {
    "m": described("Fewest rows of a class, all with different sensitive values.", POSITIVE),
    "before": described("All older releases of this table: of the same connection, or files.", TEXT_OR_TEXTS),
    "entity": described("The column of persons, where the table names none."),
    "counterfeits": described("Rows without an entity are counterfeits.", YES_OR_NO),
}


def read_series(node: Node, mistakes: Mistakes, connection: str, folder: Path) -> SeriesLimit | None:
    """The limit in a node, None after a mistake.

    Args:
        node: the mapping. connection: of the table, empty for files. folder: what relative paths start from.
    """
    found, attempt = mistakes.section(node, M_INVARIANCE, KEYS), mistakes.attempt
    missing = [key for key in ("m", "before") if key not in found]
    if missing:
        said = f"{M_INVARIANCE} needs {' and '.join(missing)}: the limit, and all older releases of this table."
        mistakes.append(Mistake(place_of(node), said))
        return None
    before = tuple(
        Target(relation=str(folder / name) if not connection and exists(folder / name) else name, label=name)
        for name in attempt(texts("before"), found["before"], NO_TEXTS)
    )
    limit = SeriesLimit(
        attempt(whole("m"), found["m"], 1),
        before,
        attempt(text("entity"), found.get("entity"), ""),
        attempt(flag("counterfeits"), found.get("counterfeits"), False),
    )
    return None if mistakes else limit


def series_text(limit: SeriesLimit) -> str:
    """A limit on several releases, the same text however it was written.

    Example:
        >>> series_text(SeriesLimit(3, (Target("may", label="may"), Target("june", label="june"))))
        'm_invariance=m:3,before:may+june'
    """
    more = (f",entity:{limit.entity}" if limit.entity else "") + (",counterfeits:yes" if limit.counterfeits else "")
    return f"{M_INVARIANCE}=m:{limit.m},before:{'+'.join(one.name for one in limit.before)}{more}"


def check_series(limit: SeriesLimit, roles: Roles) -> None:
    """Nothing, when a limit fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    if not limit.before:
        raise UsageError(f"{M_INVARIANCE} needs at least one older release under 'before'.")
    if not roles.quasi_identifiers or not roles.sensitive:
        lacking = "quasi_identifiers" if not roles.quasi_identifiers else "sensitive"
        raise UsageError(f"{M_INVARIANCE} needs quasi-identifiers and a sensitive column; name them under {lacking!r}.")
    if not limit.entity and not roles.entity:
        raise UsageError(f"{M_INVARIANCE} needs the column of persons; name it under 'entity'.")
