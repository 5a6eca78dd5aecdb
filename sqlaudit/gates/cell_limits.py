"""Rules for the cells of a published table, as a policy writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import all_options_of, request_from
from sqlaudit.base.spec import Target
from sqlaudit.gates.keys import SOME_TEXTS, YES_OR_NO, Keys, described, key_of
from sqlaudit.gates.nodes import PolicySection, flag, text, texts
from sqlaudit.gates.result import CellLimit
from sqlaudit.gates.tables import OTHER_TABLES, other_tables
from sqlaudit.models import presets
from sqlaudit.models.registry import CELL_RULES, parse_requirements
from sqlaudit.tabular.request import CELLS, CODES, ROWS, TOTALS, AggregatesRequest

AGGREGATES = "aggregates"
SHOWN = "show_cells"
PRESET = "preset"
OTHERS = "before", "linked"
"""Further tables."""
CELL_OPTIONS = {
    option.name: option
    for option in all_options_of(AggregatesRequest)
    if option.section in (CELLS, ROWS, TOTALS) and option.name not in OTHERS
}
"""What a policy says of a table; nothing there hides or writes cells."""
ANY_TABLE = Target(relation="any table")
"""The table of a rule in a policy, until a test puts its own there."""
CELL_KEYS: Keys = {
    **{name: key_of(option) for name, option in CELL_OPTIONS.items()},
    "before": described("Older releases: of the same connection, or files.", OTHER_TABLES),
    "linked": described("Further tables of the same people, judged together with this one.", OTHER_TABLES),
    SHOWN: described("Name unsafe cells by their dimensions in reports.", YES_OR_NO),
    "require": described(f"Rules for cells: {', '.join(CELL_RULES)}.", SOME_TEXTS),
    PRESET: described("Published rules for cells; `sqlaudit models --presets` lists them.", SOME_TEXTS),
}


def read_cells(section: PolicySection, connection: str, folder: Path) -> tuple[CellLimit, ...]:
    """The rules in a section, none after a mistake.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    if "require" not in section and PRESET not in section:
        sentence = "aggregates needs 'require' or 'preset': rules for cells, such as threshold=5."
        section.mistakes.add(section.node, sentence)
        return ()
    options = section.take_options(AggregatesRequest, *CELL_OPTIONS, values=text, negative=text)
    show_cells = section.take(SHOWN, flag, False)
    if not options.get("hierarchies", CODES).endswith(CODES):
        options["hierarchies"] = str(folder / options["hierarchies"])
    before, linked = (section.take(key, other_tables, (), section.mistakes, connection, folder) for key in OTHERS)
    rules, published = section.take("require", texts, ()), section.take(PRESET, texts, ())
    if section.mistakes:
        return ()
    try:
        request = request_from(AggregatesRequest, options, target=ANY_TABLE, requirements=(), show_values=show_cells)
        required = [
            requirement for rule in rules for requirement in parse_requirements("".join(rule.split()), among=CELL_RULES)
        ]
        required += [requirement for requirement in presets.of_cells(published) if requirement not in required]
        return tuple(
            CellLimit(replace(request, requirements=(requirement,)), before, linked) for requirement in required
        )
    except UsageError as error:
        section.mistakes.keep(error, section.node)
        return ()


def cells_text(limit: CellLimit) -> str:
    """A rule for cells, the same text however it was written.

    Example:
        >>> rules = parse_requirements("threshold=5", among=CELL_RULES)
        >>> cells_text(CellLimit(AggregatesRequest(ANY_TABLE, by=("region", "month"), count="n", requirements=rules)))
        'aggregates=threshold=5,by:region+month,count:n'
    """
    return f"{AGGREGATES}=" + ",".join(_parts(limit))


def _parts(limit: CellLimit) -> Iterator[str]:
    """Yield the parts of the text of a rule for cells: the rule, then every option that is not the default."""
    request = limit.request
    yield request.requirements[0].text
    for name, option in CELL_OPTIONS.items():
        value = getattr(request, name)
        if value and value != option.default:
            value = Path(value).name if name == "hierarchies" else value  # not where it lies on this machine
            option_text = "yes" if value is True else value if isinstance(value, str) else "+".join(value)
            yield f"{name}:{option_text}"
    for key, tables in zip(OTHERS, (limit.before, limit.linked), strict=True):
        if tables:
            yield f"{key}:" + "+".join(table.name for table in tables)
