"""Limits on what a release may lose against its original, as a policy writes them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node
from sqlaudit.base.paths import exists
from sqlaudit.base.spec import Roles, Target
from sqlaudit.gates.keys import LIMIT, Keys, described, keys_of
from sqlaudit.gates.nodes import NO_TEXTS, Mistakes, choice, flag, number, place_of, text, texts
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import LossLimit
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.release.compare.request import DISTANCES, CompareRequest
from sqlaudit.reports.figures import limit as exact

LOSS = "loss"
FIGURES = ("value", "mean", "share")
KEYS: Keys = {
    "original": described("The table before it was made safe: of the same connection, or a file."),
    "measure": {"enum": list(OF_RELEASES), "description": "As for sqlaudit compare."},
    "of": {"enum": list(FIGURES), "description": "The value, its mean, or its share of complete suppression."},
    "at_most": LIMIT,
    "at_least": LIMIT,
    "column": described("Of one quasi-identifier; without it of all together."),
    **keys_of(CompareRequest, "key", "by_position"),
    "hierarchies": described("A file or folder; without it those of the inputs."),
    **keys_of(CompareRequest, "distance"),
}


def read_loss(node: Node, mistakes: Mistakes, connection: str, folder: Path) -> LossLimit | None:
    """The limit in a node, None after a mistake.

    Args:
        node: the mapping. connection: of the table, empty for files. folder: what relative paths start from.
    """
    found, attempt = mistakes.section(node, LOSS, KEYS), mistakes.attempt
    missing = [key for key in ("original", "measure") if key not in found]
    if missing or ("at_most" in found) == ("at_least" in found):
        said = " and ".join(missing) or "one of at_most and at_least"
        mistakes.append(Mistake(place_of(node), f"loss needs {said}."))
        return None
    at_least = "at_least" in found
    bound = "at_least" if at_least else "at_most"
    original = attempt(text("original"), found["original"], "?")
    relation = str(folder / original) if not connection and exists(folder / original) else original
    hierarchies = attempt(text("hierarchies"), found.get("hierarchies"), "")
    loss = LossLimit(
        original=Target(relation=relation, label=original),
        measure=attempt(choice("measure", OF_RELEASES), found["measure"], ""),
        limit=attempt(number(bound), found[bound], Fraction(0)),
        at_least=at_least,
        figure=attempt(choice("of", FIGURES), found.get("of"), FIGURES[0]),
        column=attempt(text("column"), found.get("column"), "") or None,
        key=attempt(texts("key"), found.get("key"), NO_TEXTS),
        by_position=attempt(flag("by_position"), found.get("by_position"), False),
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        distance=attempt(choice("distance", DISTANCES), found.get("distance"), DISTANCES[0]),
    )
    return None if mistakes else loss


def loss_text(loss: LossLimit) -> str:
    """A limit on a loss, the same text however it was written.

    Example:
        >>> loss_text(LossLimit(Target("raw", label="raw"), "entropy", Fraction(1, 2), figure="share"))
        'loss=measure:entropy,of:share,at_most:0.5,original:raw'
    """
    parts = [f"measure:{loss.measure}"] + ([f"of:{loss.figure}"] if loss.figure != FIGURES[0] else [])
    parts += [f"column:{loss.column}"] if loss.column else []
    limit = str(loss.limit) if loss.limit.denominator == 1 else exact(loss.limit)
    parts.append(f"{'at_least' if loss.at_least else 'at_most'}:{limit}")
    return f"{LOSS}={','.join(parts)},original:{loss.original.name}"


def check_loss(loss: LossLimit, roles: Roles) -> None:
    """Nothing, when a limit fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    measure = OF_RELEASES[loss.measure]
    if not roles.quasi_identifiers:
        raise UsageError("a loss needs quasi-identifiers; name them under 'quasi_identifiers'.")
    if measure.sensitive and not roles.sensitive:
        raise UsageError(f"the loss {loss.measure!r} needs a sensitive column; name one under 'sensitive'.")
    if loss.key and loss.by_position:
        raise UsageError("rows are paired by 'key' or 'by_position', not by both.")
    if loss.column is not None and loss.column not in roles.quasi_identifiers:
        raise UsageError(f"{loss.column!r} is no quasi-identifier of this table.")
    if measure.complement is not loss.at_least:
        better, bound = ("better", "at_least") if measure.complement else ("worse", "at_most")
        raise UsageError(f"the measure {loss.measure!r} is {better} when it is higher; write {bound}.")
