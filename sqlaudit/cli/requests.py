"""The options of the command line, made from the fields of requests, and what was typed as values of these fields."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.files import is_file
from sqlaudit.base.nodes import load_nodes
from sqlaudit.base.numbers import exact_number, exact_share
from sqlaudit.base.options import Option, options_of, request_from, split_list
from sqlaudit.base.spec import Target
from sqlaudit.cli.exits import GIVEN, QUIET
from sqlaudit.engines.writing import files_read, refuse_overwriting

# Help pages whose options stand in sections, and commands that get objects instead of loose values.

WRITTEN = {
    *("--output", "--certificate", "--to", "--buckets-to", "--failing-classes-to", "--plot", "--pictures", "--schema"),
    *("--report", "--baseline", "--history", "--store-failures", "--save", "--each-to"),
}
"""The options that name what is written, in every command; all other paths are read."""
_YAML = (".yml", ".yaml")


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
            help="Print nothing but errors on stderr.",
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
    return [Path(value) for parameter, value in _values(ctx) if WRITTEN & {*parameter.opts}]


def _values(ctx: click.Context) -> Iterator[tuple[click.Parameter, str | Path]]:
    """The texts and paths that the command line gave, with the parameter."""
    parameters = {one.name: one for one in ctx.command.params}
    for name, given in ctx.params.items():
        for value in given if isinstance(given, tuple | list) else (given,):
            if isinstance(value, str | Path):
                yield parameters[name], value


def _named_files(ctx: click.Context) -> Iterator[Path]:
    """The files that the other parameters name: tables, databases, inputs, and what YAML files name in their turn."""
    for parameter, value in _values(ctx):
        if WRITTEN & {*parameter.opts} or not str(value):
            continue
        if isinstance(parameter, click.Argument):
            yield from files_read(None, [Target(relation=str(value))])
        elif parameter.name == "query":
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


def in_section(section: str) -> Callable[..., SectionedOption]:
    """Makes the options of one section of the help page, as `click.option` does: `option = in_section("Limits")`."""

    def option(*declarations: str, **attributes: Any) -> SectionedOption:
        return SectionedOption(declarations, section=section, **attributes)

    return option


class OptionGroup:
    """Parameters of a command whose values reach it as what is made of them.

    Args:
        make: takes the values of exactly these parameters by name, returns what the command gets, by name.
    """

    def __init__(self, make: Callable[..., Mapping[str, Any]], *parameters: click.Parameter) -> None:
        self.make, self.parameters = make, parameters

    def made(self, values: dict[str, Any]) -> Mapping[str, Any]:
        """What the command gets; the values that it is made from are taken out."""
        return self.make(**{str(one.name): values.pop(str(one.name)) for one in self.parameters if one.expose_value})


def handing(name: str, make: Callable[..., Any], *parameters: click.Parameter) -> OptionGroup:
    """A group from which the command gets one object, under this name."""
    return OptionGroup(lambda **values: {name: make(**values)}, *parameters)


def command_of(*given: OptionGroup | click.Parameter) -> Callable[[Callable[..., int]], click.Command]:
    """A command with these parameters and groups of parameters, in the order of its help page."""

    def decorate(run: Callable[..., int]) -> click.Command:
        @functools.wraps(run)
        def with_objects(**values: Any) -> int:
            made: dict[str, Any] = {}
            for one in given:
                made |= one.made(values) if isinstance(one, OptionGroup) else {}
            return run(**values, **made)

        every = [part for one in given for part in (one.parameters if isinstance(one, OptionGroup) else (one,))]
        return click.command(cls=Sectioned, params=every)(with_objects)

    return decorate


R = TypeVar("R")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"\d+(\.\d+)?\s*(B|[KMGT]i?B)", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([smh]?)", re.IGNORECASE | re.ASCII)
_RANGE = re.compile(r"(?:(\d{1,6})\s*(?:\.\.|-)\s*)?(\d{1,6})", re.ASCII)
_SAID = {
    "fold": "Treat values that differ only in case, blanks, width or invisible characters as one.",
    "exact": "Treat values as written.",
}
PATH = click.Path(path_type=Path)


def split_lists(texts: Iterable[str], option: str) -> tuple[str, ...]:
    """The items of an option that may be given several times, each with a list."""
    return tuple(item for text in texts for item in split_list(text, option))


def one_column(text: str, option: str) -> str:
    """The one column that an option names.

    Raises:
        UsageError: there are several.
    """
    names = split_list(text, option)
    if len(names) > 1:
        who = ": the one that identifies the person" if option == "--entity" else ""
        raise UsageError(f"{option} takes one column{who}.")
    return names[0]


def weights(texts: Iterable[str], option: str) -> dict[str, Fraction]:
    """What columns weigh, from `age=2,sex=1`.

    Raises:
        UsageError: no such text, or a column twice.
    """
    found: dict[str, Fraction] = {}
    for item in split_lists(texts, option):
        name, equals, number = (part.strip() for part in item.rpartition("="))
        if name in found:
            raise UsageError(f"{option} names {name!r} twice.")
        try:
            found[name] = exact_share(number if equals and name else "")
        except UsageError:
            raise UsageError(f"{option} takes column=number, for example age=2, not {item!r}.") from None
    return found


def file_texts(paths: Iterable[Path], option: str) -> tuple[str, ...]:
    """What is in the files that an option names.

    Raises:
        UsageError: one cannot be read.
    """
    found = []
    for path in paths:
        try:
            found.append(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{option} {str(path)!r} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise UsageError(f"{option} {str(path)!r} is not UTF-8 text.") from None
    return tuple(found)


def name_of_view(text: str, option: str) -> str:
    """The name of a view.

    Raises:
        UsageError: it is empty.
    """
    if not text:
        raise UsageError(f"{option} takes the name of a view.")
    return text


def null_values(text: str | None) -> tuple[str, ...]:
    """The texts that mean NULL, separated by commas; `""` is the empty text."""
    return tuple(item.strip().replace('""', "") for item in text.split(",")) if text else ()


def whole_number(text: str) -> int:
    """A whole number in ASCII digits.

    Raises:
        ValueError: it is none; `5_0` is none either.
    """
    if re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text) is None:
        raise ValueError
    return int(text)


class WholeNumber(click.types.IntParamType):
    """A whole number of the command line."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; where it is none, the command ends."""
        try:
            return value if isinstance(value, int) else whole_number(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number.", param, ctx)


class WholeRange(click.IntRange, WholeNumber):
    """A whole number between bounds."""


class Read(click.types.StringParamType):
    """What a function reads from the text of an option; where it raises a ValueError, the command ends."""

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What was read."""
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(f"{value!r} is {error}", param, ctx)


def duration(text: str) -> float:
    """Seconds, from a number that may end in s, m or h.

    Raises:
        ValueError: it is no such time.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None or float(found[1]) <= 0:
        raise ValueError("not a time. Write 90, 90s, 15m or 2h.")
    return float(found[1]) * _UNITS[found[2].lower()]


def size(text: str) -> str:
    """An amount of memory as DuckDB writes it.

    Raises:
        ValueError: it is no such amount.
    """
    if _SIZE.fullmatch(text.strip()) is None:
        raise ValueError("not an amount of memory. Write 500MB or 4GB.")
    return text.strip()


def pieces(text: str) -> tuple[int, int]:
    """The first and last number of pieces of knowledge.

    Raises:
        ValueError: it is no such range.
    """
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise ValueError("not a range of numbers. Write 0..12 or 12.")
    return int(found[1] or 0), int(found[2])


def probability(text: str) -> Fraction:
    """A probability above 0, exact.

    Raises:
        ValueError: it is none.
    """
    try:
        number = exact_number(text)
    except UsageError:
        raise ValueError("not a number. Write for example 0.7.") from None
    if not 0 < number <= 1:
        raise ValueError("not a probability above 0 and at most 1.")
    return number


def number_or_worst(text: str) -> int | str:
    """A number of pieces of knowledge, or `worst`.

    Raises:
        ValueError: it is neither.
    """
    if text != "worst" and not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise ValueError("not a number of pieces. Put --witness after the TARGET.")
    return text if text == "worst" else int(text)


def count_or_all(text: str, every: int | None = None) -> int | None:
    """A number of things, `every` for `all`.

    Raises:
        ValueError: it is neither.
    """
    word = text.strip().lower()
    if word != "all" and not (word.isascii() and word.isdecimal()):
        raise ValueError("neither a number nor 'all'.")
    return every if word == "all" else int(word)


class Taken(NamedTuple):
    """How the command line takes a kind of option.

    Args:
        attributes: what `click.Option` takes besides. read: the value of the field, from what click made of the option
            and how that is called.
    """

    attributes: Callable[[Option], dict[str, Any]] = lambda _: {}
    read: Callable[[Any, str], Any] = lambda value, _: value


_KINDS: Mapping[str, Taken] = {
    "switch": Taken(lambda _: {"default": None}),
    "flag": Taken(lambda one: {"default": True, "show_default": bool(one.shown)} if one.default else {"is_flag": True}),
    "whole": Taken(lambda _: {"type": WholeNumber()}),
    "range": Taken(lambda one: {"type": WholeRange(one.least, one.most)}),
    "most": Taken(lambda one: {"type": Read(functools.partial(count_or_all, every=one.every))}),
    "choice": Taken(lambda one: {"type": click.Choice(one.kind.words)}),
    "seconds": Taken(lambda _: {"type": Read(duration)}),
    "memory": Taken(lambda _: {"type": Read(size)}),
    "pieces": Taken(lambda _: {"type": Read(pieces)}),
    "probability": Taken(lambda _: {"type": Read(probability)}),
    "witness": Taken(lambda _: {"type": Read(number_or_worst)}),
    "names": Taken(lambda _: {"multiple": True}, split_lists),
    "weights": Taken(lambda _: {"multiple": True}, weights),
    "ordered": Taken(read=lambda value, flag: split_list(value, flag) if value else ()),
    "column": Taken(read=one_column),
    "view": Taken(read=name_of_view),
    "texts": Taken(read=lambda value, _: null_values(value)),
    "queries": Taken(lambda _: {"type": PATH, "multiple": True}, file_texts),
    "file": Taken(lambda _: {"type": PATH}),
    "source": Taken(lambda _: {"type": PATH}),
}
"""By the name of a kind; others are texts."""


def flags_of(one: Option) -> tuple[str, ...]:
    """How the command line spells an option."""
    if one.flags:
        return one.flags
    plain = one.name.replace("_", "-")
    return (f"--{plain}/--no-{plain}",) if one.kind.name == "switch" or one.default is True else (f"--{plain}",)


def options_for(one: Option) -> tuple[SectionedOption, ...]:
    """The options of the command line for a field: one, but for words that are flags of their own."""
    if one.kind.name == "folding":
        return _either(one)
    more = _KINDS.get(one.kind.name, Taken()).attributes(one)
    if one.shown and one.kind.name != "flag":
        more |= {"default": one.shown, "show_default": True}
    if one.alone:
        more |= {"is_flag": False, "flag_value": one.alone}
    if one.metavar:
        more["metavar"] = one.metavar
    return (in_section(one.section)(*flags_of(one), one.name, help=one.help, **more),)


def _either(one: Option) -> tuple[SectionedOption, ...]:
    """A flag for each of some words, of which one may be given."""

    def read(ctx: click.Context, param: click.Parameter, value: bool) -> str | None:
        before, word = ctx.params.get(one.name), param.opts[0][2:].partition("-")[0]
        if value and before not in (None, word):
            raise click.UsageError(f"{' and '.join(flags_of(one))} contradict each other. Give one of them.", ctx)
        found = ctx.params[one.name] = word if value else before
        return found

    def made(flag: str, first: bool) -> SectionedOption:
        word = flag[2:].partition("-")[0]
        name = one.name if first else f"{one.name}_{word}"
        return in_section(one.section)(flag, name, is_flag=True, callback=read, expose_value=first, help=_SAID[word])

    return tuple(made(flag, first=not at) for at, flag in enumerate(flags_of(one)))


def given_options(request: type[Any], name: str, last: Sequence[str] = (), **said: str) -> OptionGroup:
    """The options of a request; the command gets `name`: what was given, for `request_from`.

    Args:
        request: has the options. name: of the command's parameter. last, said: as of `parameters_of`.
    """
    return handing(name, lambda **values: typed(request, values), *parameters_of(request, last, **said))


def request_options(request: type[R], name: str, last: Sequence[str] = (), **said: str) -> OptionGroup:
    """The same; the command gets that request."""
    return handing(name, functools.partial(read_request, request), *parameters_of(request, last, **said))


def parameters_of(request: type[Any], last: Sequence[str] = (), **said: str) -> tuple[SectionedOption, ...]:
    """The options of a request, for a `OptionGroup`.

    Args:
        request: has the options. last: those behind the others on the help page, in this order. said: help texts of
            this command, where it has its own.
    """
    found = sorted(_offered(request), key=lambda one: last.index(one.name) + 1 if one.name in last else 0)
    return tuple(made for one in found for made in options_for(replace(one, help=said.get(one.name, one.help))))


def _offered(request: type[Any]) -> Iterator[Option]:
    return (one for _, one in options_of(request) if not one.only_python)


def typed(request: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """What click made of the options of a request, as `request_from` takes it; without those that were not given.

    An option whose default the help page shows is always given: None is then one of its values, for instance `all`.
    """
    found = {}
    for one in _offered(request):
        value = values[one.name]
        if value is not None or one.shown:
            flag = flags_of(one)[0].partition("/")[0]
            found[one.name] = _KINDS.get(one.kind.name, Taken()).read(value, flag)
    return found


def read_request(request: type[R], /, **values: Any) -> R:
    """The request of what click made of its options.

    Raises:
        UsageError: whatever the request refuses.
    """
    return request_from(request, typed(request, values))
