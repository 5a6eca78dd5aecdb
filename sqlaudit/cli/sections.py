"""Help pages whose options stand in sections, and decorators that hand a command objects instead of loose values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from sqlaudit.base.errors import SqlauditError
from sqlaudit.base.nodes import load_nodes
from sqlaudit.base.paths import is_file
from sqlaudit.base.spec import Target
from sqlaudit.cli.exits import GIVEN, QUIET
from sqlaudit.engines.overwriting import files_read, refuse_overwriting

WRITTEN = {
    "--output",
    "--certificate",
    "--to",
    "--buckets-to",
    "--failing-classes-to",
    "--plot",
    "--pictures",
    "--schema",
    "--report",
    "--baseline",
    "--store-failures",
    "--save",
    "--each-to",
}
"""The options that name what is written, in every command; all other paths are read."""
_YAML = (".yml", ".yaml")
Command = TypeVar("Command", bound=Callable[..., Any])


class SectionedOption(click.Option):
    """An option that knows the section of the help page it belongs to."""

    def __init__(self, *declarations: Any, section: str = "Options", **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.section = section


def _be_quiet(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.meta[QUIET] = True


class Sectioned(click.Command):
    """A command whose help page groups its options, and that writes no file which it was told to read."""

    def __init__(self, *given: Any, **attributes: Any) -> None:
        super().__init__(*given, **attributes)
        quiet = SectionedOption(
            ["-q", "--quiet"],
            section="Output",
            is_flag=True,
            expose_value=False,
            callback=_be_quiet,
            help="Say nothing on stderr but errors, and draw no progress.",
        )
        self.params.append(quiet)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was given, for a report that says how to repeat it."""
        ctx.meta[GIVEN] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, when nothing that it writes is read.

        Raises:
            UsageError: something is.
        """
        written = written_files(ctx)
        if written:
            refuse_overwriting(written, _named_files(ctx))
        return super().invoke(ctx)

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


def written_files(ctx: click.Context) -> list[Path]:
    """The files that a command was told to write."""
    options = {one.name for one in ctx.command.params if WRITTEN & {*one.opts}}
    return [Path(value) for name, value in _values(ctx) if name in options]


def _values(ctx: click.Context) -> Iterator[tuple[str, str | Path]]:
    """The texts and paths that the command line gave, with the parameter's name."""
    for name, given in ctx.params.items():
        for value in given if isinstance(given, tuple | list) else (given,):
            if isinstance(value, str | Path):
                yield name, value


def _named_files(ctx: click.Context) -> Iterator[Path]:
    """The files that the other parameters name: tables, databases, inputs, and what YAML files name in their turn."""
    arguments = {one.name for one in ctx.command.params if isinstance(one, click.Argument)}
    options = {one.name for one in ctx.command.params if WRITTEN & {*one.opts}}
    for name, value in _values(ctx):
        if name in options or not str(value):
            continue
        if name in arguments:
            yield from files_read(None, [Target(relation=str(value))])
        elif name == "query":
            yield from files_read(None, [Target(query=str(value))])
        elif is_file(value):
            yield from files_read(str(value), ())
        if Path(value).suffix.lower() in _YAML and is_file(value):
            yield from _named_in(Path(value))


def _named_in(file: Path) -> Iterator[Path]:
    """The files that a YAML file names, beside it or from here."""
    with suppress(SqlauditError):  # what is wrong with it is said when it is read
        left = [load_nodes(file)]
        while left:
            node = left.pop()
            if node is None:
                continue
            if isinstance(node.value, str):
                yield from (path for path in (file.parent / node.value, Path(node.value)) if is_file(path))
            else:
                for one in node.value or ():
                    left += one if isinstance(one, tuple) else (one,)


def in_section(section: str) -> Callable[..., Callable[[Command], Command]]:
    """`click.option` for one section of the help page: `option = in_section("Limits")`."""

    def option(*declarations: str, **attributes: Any) -> Callable[[Command], Command]:
        return click.option(*declarations, cls=SectionedOption, section=section, **attributes)

    return option


def _names(parameters: Sequence[Callable[[Any], Any]]) -> list[str]:
    """The names under which click hands out the values of parameters."""

    def bare() -> None:
        """Nothing but a place for the parameters."""

    for parameter in parameters:
        parameter(bare)
    kept: list[click.Parameter] = vars(bare).get("__click_params__", [])
    return [str(one.name) for one in kept]


def shared(make: Callable[..., Mapping[str, Any]], *parameters: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """A decorator that adds click parameters and replaces their values by what `make` builds from them.

    Args:
        make: takes the values of exactly these parameters by name, returns what the command gets, by name.
        parameters: what `click.option` and `click.argument` return.
    """
    names = _names(parameters)

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
