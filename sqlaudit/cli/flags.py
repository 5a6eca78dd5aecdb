"""How the command line spells the fields of requests."""

from __future__ import annotations

import re

_FLAGS = {
    "replace_view": "--replace",
    "walk": "--show-walk",
    "microdata": "--from",
    "other": "--other-release",
    "from_": "--from",
}
"""The options that are not called like their field."""
_PLAIN = re.compile(r"[\w,.:=%/*+@-]+")


def on_the_command_line(field: str, values: tuple[object, ...]) -> str:
    """An option, with its values behind it.

    Example:
        >>> on_the_command_line("qi", ("age", "sex")), on_the_command_line("show_values", (True,))
        ('--qi age,sex', '--show-values')
    """
    flag = _FLAGS.get(field, f"--{field.replace('_', '-')}")
    if not values or values == (True,):
        return flag
    if values == (False,):
        return f"--no-{flag.removeprefix('--')}"
    given = ",".join(map(str, values))
    return f"{flag} {given}" if _PLAIN.fullmatch(given) else f'{flag} "{given}"'
