"""The options of the command line, made from the fields of requests, and what was typed as values of these fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import Option, options_of, request_from, split_list
from sqlaudit.cli.parsing import (
    count_or_all,
    delimiter,
    duration,
    file_text,
    null_values,
    number_or_worst,
    one_column,
    pieces,
    probability,
    size,
    split_lists,
    weights,
)
from sqlaudit.cli.sections import in_section, shared

Decorator = Callable[[Any], Any]
R = TypeVar("R")
_PATH = click.Path(path_type=Path)
_MADE: Mapping[str, Callable[[Option], dict[str, Any]]] = {
    "switch": lambda one: {"default": None},
    "flag": lambda one: {"default": True, "show_default": bool(one.shown)} if one.default else {"is_flag": True},
    "whole": lambda one: {"type": int},
    "range": lambda one: {"type": click.IntRange(one.least, one.most)},
    "names": lambda one: {"multiple": True},
    "weights": lambda one: {"multiple": True},
    "choice": lambda one: {"type": click.Choice(one.kind.words)},
    "seconds": lambda one: {"callback": duration},
    "memory": lambda one: {"callback": size},
    "pieces": lambda one: {"callback": pieces},
    "probability": lambda one: {"callback": probability},
    "witness": lambda one: {"callback": number_or_worst},
    "most": lambda one: {"callback": _most(one)},
    "queries": lambda one: {"type": _PATH, "multiple": True},
    "file": lambda one: {"type": _PATH},
    "source": lambda one: {"type": _PATH},
}
"""What `click.option` takes besides, by the kind of an option."""
_TYPED: Mapping[str, Callable[[str, Any], Any]] = {
    "names": lambda flag, value: split_lists(value, flag),
    "queries": lambda flag, value: tuple(file_text(path, flag) for path in value),
    "weights": lambda flag, value: weights(value, flag),
    "texts": lambda _, value: null_values(value),
    "delimiter": lambda _, value: delimiter(value),
    "view": lambda flag, value: _view(value, flag),
    "column": lambda flag, value: one_column(value, flag),
    "ordered": lambda flag, value: split_list(value, flag) if value else (),
}
"""What was typed as the value of a field, by the kind of an option; others are what click makes of them."""


def _view(text: str, flag: str) -> str:
    if not text:
        raise UsageError(f"{flag} takes the name of a view.")
    return text


def _most(one: Option) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """A number of things; `all` is what the option says it is."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        found = None if value is None else count_or_all(ctx, param, value)
        return one.every if value is not None and found is None else found

    return read


def flags_of(one: Option) -> tuple[str, ...]:
    """How the command line spells an option."""
    if one.flags:
        return one.flags
    plain = one.name.replace("_", "-")
    return (f"--{plain}/--no-{plain}",) if one.kind.name == "switch" or one.default is True else (f"--{plain}",)


def made_option(one: Option) -> Decorator:
    """The option of the command line for a field."""
    made = _MADE.get(one.kind.name)
    more = {} if made is None else made(one)
    if one.shown and one.kind.name != "flag":
        more |= {"default": one.shown, "show_default": True}
    if one.alone:
        more |= {"is_flag": False, "flag_value": one.alone}
    if one.metavar:
        more["metavar"] = one.metavar
    return in_section(one.section)(*flags_of(one), one.name, help=one.help, **more)


def given_options(request: type[Any], name: str, last: Sequence[str] = (), **said: str) -> Decorator:
    """A decorator with the options of a request; the command gets `name`: what was given, for `request_from`.

    Args:
        request: has the options. name: of the command's parameter. last, said: as of `parameters_of`.
    """
    return _handing(request, name, dict, parameters_of(request, last, **said))


def request_options(request: type[R], name: str, last: Sequence[str] = (), **said: str) -> Decorator:
    """The same; the command gets that request."""
    return _handing(request, name, lambda given: request_from(request, given), parameters_of(request, last, **said))


def parameters_of(request: type[Any], last: Sequence[str] = (), **said: str) -> tuple[Decorator, ...]:
    """The options of a request, for `shared`.

    Args:
        request: has the options. last: those behind the others on the help page, in this order. said: help texts of
            this command, where it has its own.
    """
    found = sorted(_offered(request), key=lambda one: last.index(one.name) + 1 if one.name in last else 0)
    return tuple(made_option(replace(one, help=said.get(one.name, one.help))) for one in found)


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
            reader = _TYPED.get(one.kind.name)
            found[one.name] = value if reader is None else reader(flags_of(one)[0].partition("/")[0], value)
    return found


def _handing(
    request: type[Any], name: str, hand: Callable[[dict[str, Any]], Any], made: Sequence[Decorator]
) -> Decorator:
    def make(**values: Any) -> dict[str, Any]:
        return {name: hand(typed(request, values))}

    return shared(make, *made)
