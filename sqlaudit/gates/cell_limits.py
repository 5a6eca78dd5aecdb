"""Rules for the cells of a published table, as a policy writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.paths import exists
from sqlaudit.base.spec import Target
from sqlaudit.gates.keys import TEXT_OR_TEXTS, YES_OR_NO, Keys, described, key_of
from sqlaudit.gates.nodes import NO_TEXTS, Mistakes, flag, mistake_of, place_of, text, texts
from sqlaudit.gates.result import Mistake
from sqlaudit.gates.spec import CellLimit
from sqlaudit.models.registry import CELL_RULES
from sqlaudit.models.requirements import parse_requirements
from sqlaudit.tabular.request import CELLS, ROWS, TOTALS, AggregatesRequest

AGGREGATES = "aggregates"
OPTIONS = {one.name: one for _, one in options_of(AggregatesRequest) if one.section in (CELLS, ROWS, TOTALS)}
"""What a policy says of a table; nothing there hides or writes cells."""
SHOWN = "show_cells"
OTHERS = "before", "linked"
"""Further tables."""
KEYS: Keys = {
    **{name: key_of(one) for name, one in OPTIONS.items()},
    "before": described("Older releases: of the same connection, or files.", TEXT_OR_TEXTS),
    "linked": described("Further tables of the same people, judged together with this one.", TEXT_OR_TEXTS),
    SHOWN: described("Name unsafe cells by their dimensions in what is told.", YES_OR_NO),
    "require": described(f"Rules for cells: {', '.join(CELL_RULES)}.", TEXT_OR_TEXTS),
}


def read_cells(node: Node, mistakes: Mistakes, connection: str, folder: Path) -> tuple[CellLimit, ...]:
    """The rules in a node, none after a mistake.

    Args:
        node: the mapping. connection: of the table, empty for files. folder: what relative paths start from.
    """
    found, attempt = mistakes.section(node, AGGREGATES, KEYS), mistakes.attempt
    if "require" not in found:
        mistakes.append(Mistake(place_of(node), "aggregates needs require: the rules for cells, such as threshold=5."))
        return ()
    given: dict[str, Any] = {name: attempt(_reader(name), found.get(name), None) for name in OPTIONS}
    shown = attempt(flag(SHOWN), found.get(SHOWN), False)
    if given["hierarchies"]:
        given["hierarchies"] = str(folder / given["hierarchies"])
    before, linked = (
        tuple(
            Target(relation=str(folder / name) if not connection and _is_file(folder, name) else name, label=name)
            for name in attempt(texts(key), found.get(key), NO_TEXTS)
        )
        for key in OTHERS
    )
    rules = attempt(texts("require"), found["require"], NO_TEXTS)
    if mistakes:
        return ()
    try:
        given = {name: value for name, value in given.items() if value is not None}
        request = request_from(AggregatesRequest, given, show_values=shown)
        wanted = [one for rule in rules for one in parse_requirements("".join(rule.split()), among=CELL_RULES)]
        return tuple(CellLimit(replace(request, requirements=(one,)), before, linked) for one in wanted)
    except UsageError as error:
        mistakes.append(mistake_of(error, node))
        return ()


def _is_file(folder: Path, name: str) -> bool:
    """Whether a text names a file beside the policy, or is a pattern of such."""
    return exists(folder / name) or has_magic(name)


def _reader(name: str) -> Any:
    kind = OPTIONS[name].kind.name
    readers = {"flag": flag, "names": texts, "texts": texts}
    return readers.get(kind, text)(name)


def cells_text(limit: CellLimit) -> str:
    """A rule for cells, the same text however it was written.

    Example:
        >>> rules = parse_requirements("threshold=5", among=CELL_RULES)
        >>> cells_text(CellLimit(AggregatesRequest(by=("region", "month"), count="n", requirements=rules)))
        'aggregates=threshold=5,by:region+month,count:n'
    """
    return f"{AGGREGATES}=" + ",".join(_parts(limit))


def _parts(limit: CellLimit) -> Iterator[str]:
    request = limit.request
    yield request.requirements[0].text
    for name, one in OPTIONS.items():
        value = getattr(request, name)
        if value and value != one.default:
            value = Path(value).name if name == "hierarchies" else value  # not where it lies on this machine
            shown = "yes" if value is True else value if isinstance(value, str) else "+".join(value)
            yield f"{name}:{shown}"
    for key, tables in zip(OTHERS, (limit.before, limit.linked), strict=True):
        if tables:
            yield f"{key}:" + "+".join(one.name for one in tables)
