"""The options of the command line, made from the fields of requests, and the readers of their values."""

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
from sqlaudit.base.names import untyped
from sqlaudit.base.nodes import load_nodes
from sqlaudit.base.numbers import exact_number, exact_share
from sqlaudit.base.options import Option, options_of, request_from, split_list
from sqlaudit.base.spec import Target
from sqlaudit.cli.exits import ARGUMENTS, QUIET
from sqlaudit.engines.writing import files_read, refuse_overwriting

# Help pages whose options stand in sections, and commands that get objects instead of loose values.

YAML = (".yml", ".yaml")


class SectionedOption(click.Option):
    """An option with the section of the help page that it belongs to."""

    def __init__(self, *declarations: Any, section: str = "Options", writes: bool = False, **attributes: Any) -> None:
        super().__init__(*declarations, **attributes)
        self.section, self.writes = section, writes


def _be_quiet(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    if quiet:
        context.meta[QUIET] = True


class Sectioned(click.Command):
    """A command whose help page groups its options, and that refuses to write a file which it reads."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
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
        """Keep the arguments for a report that shows how to repeat the command."""
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless it would write a file which it reads.

        Raises:
            UsageError: it would.
        """
        written = written_files(ctx)
        if written:
            refuse_overwriting(written, _named_files(ctx))
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by section, in the order of their definition."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", "Help"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=28)


def written_files(ctx: click.Context) -> list[Path]:
    """Return the files that a command is to write."""
    return [Path(value) for parameter, value in _path_values(ctx) if _is_written(parameter)]


def _is_written(parameter: click.Parameter) -> bool:
    """Return True for an option that names a file to write; all other paths are read."""
    return isinstance(parameter, SectionedOption) and parameter.writes


def _path_values(ctx: click.Context) -> Iterator[tuple[click.Parameter, str | Path]]:
    """Return the texts and paths of the command line, each with its parameter."""
    parameters = {parameter.name: parameter for parameter in ctx.command.params}
    for name, values in ctx.params.items():
        for value in values if isinstance(values, tuple | list) else (values,):
            if isinstance(value, str | Path):
                yield parameters[name], value


def _named_files(ctx: click.Context) -> Iterator[Path]:
    """Return the files that a command reads: tables, databases, inputs, and the files that YAML files name."""
    for parameter, value in _path_values(ctx):
        if _is_written(parameter) or not str(value):
            continue
        if isinstance(parameter, click.Argument):
            yield from files_read(None, [Target(relation=str(value))])
        elif parameter.name == "query":
            yield from files_read(None, [Target(query=str(value))])
        elif is_file(value):
            yield from files_read(str(value), ())
        elif parameter.name == "hierarchies":
            yield from Path(value).glob("*.csv")
        if Path(value).suffix.lower() in YAML and is_file(value):
            yield from files_in_yaml(Path(value))


def files_in_yaml(file: Path, *, but: Sequence[str] = ()) -> Iterator[Path]:
    """Return the files that a YAML file names, by its folder or the current one, but those under some keys."""
    with suppress(SqlauditError):  # errors in the file are reported when the command reads it
        pending = [load_nodes(file)]
        while pending:
            node = pending.pop()
            if node is None:
                continue
            if isinstance(node.value, str):
                yield from (path for path in (file.parent / node.value, Path(node.value)) if is_file(path))
            else:
                for child in node.value or ():
                    pending += (child,) if not isinstance(child, tuple) else () if child[0].value in but else child


def in_section(section: str) -> Callable[..., SectionedOption]:
    """Return a function that makes options of one section, as `click.option` does: `option = in_section("Limits")`."""

    def option(*declarations: str, **attributes: Any) -> SectionedOption:
        return SectionedOption(declarations, section=section, **attributes)

    return option


class OptionGroup:
    """Parameters of a command from whose values objects for the command are made.

    Args:
        make: takes the values of exactly these parameters by name, and returns the command's arguments by name.
    """

    def __init__(self, make: Callable[..., Mapping[str, object]], *parameters: click.Parameter) -> None:
        self.make, self.parameters = make, parameters

    def extract(self, values: dict[str, object]) -> Mapping[str, Any]:
        """Take the values of the group out of `values`, and return the command's arguments made of them."""
        return self.make(
            **{
                str(parameter.name): values.pop(str(parameter.name))
                for parameter in self.parameters
                if parameter.expose_value
            }
        )


def group_options(name: str, make: Callable[..., object], *parameters: click.Parameter) -> OptionGroup:
    """Return a group of parameters from whose values one object is made, passed to the command by this name."""
    return OptionGroup(lambda **values: {name: make(**values)}, *parameters)


def command_of(
    *parts: OptionGroup | click.Parameter, first: Sequence[OptionGroup] = ()
) -> Callable[[Callable[..., int]], click.Command]:
    """Return a decorator for a command with these parameters and groups, in the order of its help page.

    Args:
        parts: the parameters and groups.
        first: the groups whose objects are made before those of the others, so that they are refused first.
    """

    def decorate(run: Callable[..., int]) -> click.Command:
        """Return the command, whose function gets the objects of the groups in place of their values."""

        @functools.wraps(run)
        def with_objects(**values: object) -> int:
            objects: dict[str, object] = {}
            for part in (*first, *(part for part in parts if part not in first)):
                objects |= part.extract(values) if isinstance(part, OptionGroup) else {}
            return run(**values, **objects)

        parameters = [
            parameter for part in parts for parameter in (part.parameters if isinstance(part, OptionGroup) else (part,))
        ]
        return click.command(cls=Sectioned, params=parameters)(with_objects)

    return decorate


R = TypeVar("R")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"\d+(\.\d+)?\s*(B|[KMGT]i?B)", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([smh]?)", re.IGNORECASE | re.ASCII)
_RANGE = re.compile(r"(?:(\d{1,6})\s*(?:\.\.|-)\s*)?(\d{1,6})", re.ASCII)
_FOLDING_HELP = {
    "fold": "Treat values that differ only in case, blanks, width or invisible characters as one.",
    "exact": "Treat values as written.",
}
PATH = click.Path(path_type=Path)


def split_lists(texts: Iterable[str], option: str) -> tuple[str, ...]:
    """Return the parts of an option that may be given several times, each time with a list."""
    return tuple(part for text in texts for part in split_list(text, option))


def parse_column(text: str, option: str) -> str:
    """Return the one column that an option names.

    Raises:
        UsageError: there are several.
    """
    names = split_list(text, option)
    if len(names) > 1:
        who = ": the one that identifies the person" if option == "--entity" else ""
        raise UsageError(f"{option} takes one column{who}.")
    return names[0]


_WEIGHT, _LEVEL = "column=number, for example age=2", "column=level, for example 'age=5 years'"


def parse_by_column(texts: Iterable[str], option: str, takes: str) -> dict[str, str]:
    """Return a text for each column, from `age=5 years,sex=*`.

    Raises:
        UsageError: the text has another form than the option takes, or a column twice.
    """
    by_column: dict[str, str] = {}
    for text in split_lists(texts, option):
        name, _, value = (part.strip() for part in text.rpartition("="))
        if not (name and value):
            raise UsageError(f"{option} takes {takes}, not {text!r}.")
        name = untyped(name)
        if name in by_column:
            raise UsageError(f"{option} names {name!r} twice.")
        by_column[name] = value
    return by_column


def parse_weights(texts: Iterable[str], option: str) -> dict[str, Fraction]:
    """Return the weights of columns, from `age=2,sex=1`.

    Raises:
        UsageError: the text has another form, or a column twice.
    """
    weights = {}
    for name, number in parse_by_column(texts, option, _WEIGHT).items():
        try:
            weights[name] = exact_share(number)
        except UsageError:
            raise UsageError(f"{option} takes {_WEIGHT}, not {f'{name}={number}'!r}.") from None
    return weights


def read_files(paths: Iterable[Path], option: str) -> tuple[str, ...]:
    """Return the texts of the files that an option names.

    Raises:
        UsageError: a file cannot be read.
    """
    texts = []
    for path in paths:
        try:
            texts.append(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{option} {str(path)!r} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise UsageError(f"{option} {str(path)!r} is not UTF-8 text.") from None
    return tuple(texts)


def inputs_from(path: Path) -> Mapping[str, object]:
    """Return the further inputs of models that a file has."""
    from sqlaudit.classes.inputs import load_inputs

    return load_inputs(path)


def parse_view(text: str, option: str) -> str:
    """Return the name of a view.

    Raises:
        UsageError: it is empty.
    """
    if not text:
        raise UsageError(f"{option} takes the name of a view.")
    return text


def parse_levels(text: str, option: str) -> tuple[int, ...]:
    """Return the levels of a node, from `2,1,0`.

    Raises:
        UsageError: they are no whole numbers.
    """
    try:
        return tuple(whole_number(level) for level in text.split(","))
    except ValueError:
        raise UsageError(f"{option} takes one level per quasi-identifier, for example 2,1,0.") from None


def null_values(text: str | None) -> tuple[str, ...]:
    """Return the texts that mean NULL, separated by commas. `""` is the empty text."""
    return tuple(part.strip().replace('""', "") for part in text.split(",")) if text else ()


def whole_number(text: str) -> int:
    """Read a whole number in ASCII digits.

    Raises:
        ValueError: it is none; `5_0` is none either.
    """
    if re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text) is None:
        raise ValueError
    return int(text)


class WholeNumber(click.types.IntParamType):
    """A click type for whole numbers."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. If it is none, the command ends."""
        try:
            return value if isinstance(value, int) else whole_number(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number.", param, ctx)


class WholeRange(click.IntRange, WholeNumber):
    """A click type for whole numbers between bounds."""


class ParsedText(click.types.StringParamType):
    """A click type that reads the text of an option by a function. If it raises a ValueError, the command ends."""

    def __init__(self, read: Callable[[str], object]) -> None:
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value that the function reads."""
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(f"{value!r} is {error}", param, ctx)


def parse_duration(text: str) -> float:
    """Return seconds, from a number that may end in s, m or h.

    Raises:
        ValueError: it is no such time.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ValueError("not a time. Write 90, 90s, 15m or 2h.")
    return float(match[1]) * _UNITS[match[2].lower()]


def parse_memory(text: str) -> str:
    """Return an amount of memory as DuckDB writes it.

    Raises:
        ValueError: it is no such amount.
    """
    if _SIZE.fullmatch(text.strip()) is None:
        raise ValueError("not an amount of memory. Write 500MB or 4GB.")
    return text.strip()


def parse_pieces(text: str) -> tuple[int, int]:
    """Return the first and last number of pieces of knowledge, 0 and 12 for `12`.

    Raises:
        ValueError: it is no such range.
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise ValueError("not a range of numbers. Write 0..12 or 12.")
    return int(match[1] or 0), int(match[2])


def parse_probability(text: str) -> Fraction:
    """Return an exact probability above 0.

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


def parse_pieces_or_worst(text: str) -> int | str:
    """Return a number of pieces of knowledge, or `worst`.

    Raises:
        ValueError: it is neither.
    """
    if text != "worst" and not (text.isascii() and text.isdecimal() and len(text) < 7):
        raise ValueError("not a number of pieces. Put --witness after the TARGET.")
    return text if text == "worst" else int(text)


def parse_count_or_all(text: str, all_means: int | None = None) -> int | None:
    """Return a number, and `all_means` for `all`.

    Raises:
        ValueError: it is neither.
    """
    word = text.strip().lower()
    if word != "all" and not (word.isascii() and word.isdecimal()):
        raise ValueError("neither a number nor 'all'.")
    return all_means if word == "all" else int(word)


class ClickKind(NamedTuple):
    """A kind of option as click reads it.

    Args:
        attributes: returns further attributes of the `click.Option`.
        read: returns the value of the field, from click's value of the option and the option's flag.
    """

    attributes: Callable[[Option], dict[str, object]] = lambda _: {}
    read: Callable[[Any, str], object] = lambda value, _: value


_KINDS: Mapping[str, ClickKind] = {
    "switch": ClickKind(lambda _: {"default": None}),
    "flag": ClickKind(
        lambda option: {"default": True, "show_default": bool(option.shown)} if option.default else {"is_flag": True}
    ),
    "whole": ClickKind(lambda _: {"type": WholeNumber()}),
    "range": ClickKind(lambda option: {"type": WholeRange(option.least, option.most)}),
    "most": ClickKind(
        lambda option: {"type": ParsedText(functools.partial(parse_count_or_all, all_means=option.every))}
    ),
    "choice": ClickKind(lambda option: {"type": click.Choice(option.kind.words)}),
    "seconds": ClickKind(lambda _: {"type": ParsedText(parse_duration)}),
    "memory": ClickKind(lambda _: {"type": ParsedText(parse_memory)}),
    "pieces": ClickKind(lambda _: {"type": ParsedText(parse_pieces)}),
    "probability": ClickKind(lambda _: {"type": ParsedText(parse_probability)}),
    "witness": ClickKind(lambda _: {"type": ParsedText(parse_pieces_or_worst)}),
    "names": ClickKind(lambda _: {"multiple": True}, split_lists),
    "weights": ClickKind(lambda _: {"multiple": True}, parse_weights),
    "columns_at": ClickKind(lambda _: {"multiple": True}, functools.partial(parse_by_column, takes=_LEVEL)),
    "ordered": ClickKind(read=lambda value, flag: split_list(value, flag) if value else ()),
    "column": ClickKind(read=parse_column),
    "view": ClickKind(read=parse_view),
    "levels": ClickKind(read=parse_levels),
    "texts": ClickKind(read=lambda value, _: null_values(value)),
    "queries": ClickKind(lambda _: {"type": PATH, "multiple": True}, read_files),
    "tables": ClickKind(lambda _: {"multiple": True}),
    "requirements": ClickKind(lambda _: {"multiple": True}),
    "repeated": ClickKind(lambda _: {"multiple": True}),
    "inputs": ClickKind(lambda _: {"type": PATH}, lambda value, _: inputs_from(value)),
    "file": ClickKind(lambda _: {"type": PATH}),
    "files": ClickKind(lambda _: {"type": PATH, "multiple": True}),
    "source": ClickKind(lambda _: {"type": PATH}),
}
"""By the name of a kind. Other kinds are texts."""


def flags_of(option: Option) -> tuple[str, ...]:
    """Return the flags of an option on the command line."""
    if option.flags:
        return option.flags
    plain = option.name.replace("_", "-")
    return (f"--{plain}/--no-{plain}",) if option.kind.name == "switch" or option.default is True else (f"--{plain}",)


def options_for(option: Option) -> tuple[SectionedOption, ...]:
    """Return the options of the command line for a field: one, or a flag for each word of a folding."""
    if option.kind.name == "folding":
        return _word_flags(option)
    attributes = _KINDS.get(option.kind.name, ClickKind()).attributes(option)
    if option.shown and option.kind.name != "flag":
        attributes |= {"default": option.shown, "show_default": True}
    if option.alone:
        attributes |= {"is_flag": False, "flag_value": option.alone}
    if option.metavar:
        attributes["metavar"] = option.metavar
    option_of_click = in_section(option.section)(
        *flags_of(option), option.name, help=option.help, writes=option.writes, **attributes
    )
    return (option_of_click,)


def _word_flags(option: Option) -> tuple[SectionedOption, ...]:
    """Return a flag for each word of an option, of which one may be given."""

    def read(ctx: click.Context, param: click.Parameter, value: bool) -> str | None:
        before, word = ctx.params.get(option.name), param.opts[0][2:].partition("-")[0]
        if value and before not in (None, word):
            raise click.UsageError(f"{' and '.join(flags_of(option))} contradict each other. Give one of them.", ctx)
        chosen = ctx.params[option.name] = word if value else before
        return chosen

    def flag_for(flag: str, first: bool) -> SectionedOption:
        word = flag[2:].partition("-")[0]
        name = option.name if first else f"{option.name}_{word}"
        return in_section(option.section)(
            flag, name, is_flag=True, callback=read, expose_value=first, help=_FOLDING_HELP[word]
        )

    return tuple(flag_for(flag, first=not at) for at, flag in enumerate(flags_of(option)))


def request_options(request: type[R], name: str, last: Sequence[str] = (), **help_texts: str) -> OptionGroup:
    """Return a group of a request's options. The command gets the request, by the name of its parameter."""
    return group_options(name, functools.partial(read_request, request), *parameters_of(request, last, **help_texts))


def parameters_of(request: type[object], last: Sequence[str] = (), **help_texts: str) -> tuple[SectionedOption, ...]:
    """Return the options of a request as parameters of an `OptionGroup`.

    Args:
        request: the class with the options.
        last: options that stand behind the others on the help page, in this order.
        help_texts: help texts of this command, by option, where they differ from the request's.
    """
    options = sorted(
        _command_line_options(request), key=lambda option: last.index(option.name) + 1 if option.name in last else 0
    )
    return tuple(
        parameter
        for option in options
        for parameter in options_for(replace(option, help=help_texts.get(option.name, option.help)))
    )


def _command_line_options(request: type[object]) -> Iterator[Option]:
    """Return the options of a request that the command line has."""
    return (option for _, option in options_of(request) if not option.only_python)


def request_values(request: type[object], values: Mapping[str, object]) -> dict[str, object]:
    """Return the given options of a request, by name, from click's values."""
    return option_values(_command_line_options(request), values)


def option_values(options: Iterable[Option], values: Mapping[str, object]) -> dict[str, object]:
    """Return the given ones of some options, by name as `request_from` takes them, from click's values.

    An option whose default is on the help page always counts as given: None is then a value, for instance `all`.
    """
    given_values = {}
    for option in options:
        value = values[option.name]
        if value is not None or option.shown:
            flag = flags_of(option)[0].partition("/")[0]
            given_values[option.name] = _KINDS.get(option.kind.name, ClickKind()).read(value, flag)
    return given_values


def read_request(request: type[R], /, **values: object) -> R:
    """Return the request for click's values of its options.

    Raises:
        UsageError: the request refuses a value.
    """
    return request_from(request, request_values(request, values))
