"""How the console spells the fields of requests: what is an option elsewhere is a command here."""

from __future__ import annotations

_COMMANDS = {"qi": "\\qi", "sensitive": "\\sensitive", "entity": "\\entity", "require": "\\require"}
_SAMPLED = ("sampling_fraction", "population_size", "weights")
_SAID = {
    "query": "the statement",
    "show_values": "\\values on",
    "failing_classes_to": "`sqlaudit audit --failing-classes-to FILE.csv`",
    "failing_classes": "`sqlaudit audit --failing-classes all`",
    "db": "`sqlaudit console --db`",
    "buckets": "`sqlaudit audit --buckets`",
}


def in_the_console(field: str, values: tuple[object, ...]) -> str | None:
    r"""The command for a field, with its values behind it; None where the console has none.

    Example:
        >>> in_the_console("qi", ("age", "sex")), in_the_console("show_values", (True,)), in_the_console("to", ())
        ('\\qi age sex', '\\values on', None)
    """
    if field in _COMMANDS:
        return " ".join((_COMMANDS[field], *map(str, values)))
    return "\\sample" if field in _SAMPLED else _SAID.get(field)


def sentence(text: str) -> str:
    """A text that may begin with what the console calls a query, as a sentence."""
    return "T" + text[1:] if text.startswith(_SAID["query"]) else text
