"""Help pages whose options stand in sections, and decorators that hand a command objects instead of loose values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class Option(click.Option):
    """An option that knows the section of the help page it belongs to."""

    def __init__(self, *declarations: Any, section: str = "Options", **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.section = section


class Sectioned(click.Command):
    """A command whose help page groups its options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section, in the order of their definition."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Help"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


def in_section(section: str) -> Callable[..., Callable[[Command], Command]]:
    """`click.option` for one section of the help page: `option = in_section("Limits")`."""

    def option(*declarations: str, **attributes: Any) -> Callable[[Command], Command]:
        return click.option(*declarations, cls=Option, section=section, **attributes)

    return option


def shared(make: Callable[..., Mapping[str, Any]], *parameters: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """A decorator that adds click parameters and replaces their values by what `make` builds from them.

    Args:
        make: takes the values of exactly these parameters by name, returns what the command gets, by name.
        parameters: what `click.option` and `click.argument` return.
    """
    names = make.__code__.co_varnames[: make.__code__.co_kwonlyargcount]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_objects(*args: Any, **values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            return command(*args, **values, **make(**own))

        decorated: Any = with_objects
        for parameter in reversed(parameters):
            decorated = parameter(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate
