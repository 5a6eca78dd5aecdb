"""A command: a typed request, and a function of an open engine and it. Every edge finds here what it may ask.

Python calls the command itself, with the parameters that the fields of its request declare. The command line, the
console and agents make the request from what they were given, and run the command on an engine of their own.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import itertools
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from sqlaudit.base.errors import ExitCode, UsageError
from sqlaudit.base.names import any_of
from sqlaudit.base.options import REQUIRED, Given, Option, RequestPart, made, parts_of, request_from, written_files
from sqlaudit.base.parameter_names import is_python, spelled
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Result
from sqlaudit.base.spec import Limits, Target
from sqlaudit.engines import opened
from sqlaudit.engines.contract import Database, Engine
from sqlaudit.engines.writing import files_read, refuse_overwriting


class Request(Protocol):
    """What is asked of a command that reads tables."""

    @property
    def targets(self) -> Sequence[Target]:
        """Everything that the command reads."""
        ...


Q = TypeVar("Q")
R = TypeVar("R")
Asked = TypeVar("Asked", bound=Request)
ParameterOfPython = tuple[str, Any, str]
"""Annotation, default and text of a parameter."""
_TABLES: dict[str, ParameterOfPython] = {
    "target": ("Any", None, "a table, view, file path or glob, or a pandas, polars or Arrow table; None with `query`."),
    "targets": ("Sequence[Any]", REQUIRED, ""),
    "original": ("Any", REQUIRED, ""),
    "release": ("Any", REQUIRED, ""),
    "query": ("str", "", "one SELECT instead of a target."),
    "name": (
        "str | Mapping[str, str]",
        "",
        'what reports call a frame or a query; of several tables by parameter: `{"original": "patients"}`.',
    ),
    "names": ("Sequence[str]", (), "what reports call the releases, if they are frames or queries."),
    "where": ("str", "", "a SQL condition on the rows."),
    "read": (
        "ReadOptions | Mapping[str, Any] | None",
        None,
        'how files are read: `{"skip": 1}`; of one table by its parameter or file: `{"release": {"sheet": "Data"}}`.',
    ),
    "buckets": (
        "Buckets | Mapping[str, Any] | None",
        None,
        "the second table of a bucketized release: a mapping with `table`, `column` and optionally `count`.",
    ),
    "roles": (
        "Roles | Mapping[str, Any] | None",
        None,
        "the roles at once, instead of their parameters: a mapping of these, or what `profile(…).roles` proposes.",
    ),
}
"""The parameters of parts: what is no option of its own."""
_ENGINE: dict[str, ParameterOfPython] = {
    "db": (
        "Database",
        None,
        "a database URL or DuckDB file, or an engine or SparkSession that is already open (it is left open).",
    ),
    "limits": ("Limits | Mapping[str, Any] | None", None, "time, memory and threads."),
}
_SHARED: dict[str, ParameterOfPython] = {
    "require": (
        "Require",
        None,
        'the requirements: `{"k": 5, "recursive_l": {"c": 3, "l": 2}}` or `["k=5", "t=0.2"]`.',
    ),
    "preset": ("str | Sequence[str]", (), "published rules; `sqlaudit models --presets` lists them."),
    "values": (
        "Folding | str | None",
        None,
        "`fold` or `exact`: whether persons and sensitive values that differ only in case, blanks, width or invisible "
        "characters count as one. Required if there are any.",
    ),
    "inputs": (
        "Mapping[str, Any] | None",
        None,
        "further inputs of models (categories, orders, a population table or frame, …), as a mapping or as a file that "
        "`sqlaudit.classes.inputs.load_inputs` reads.",
    ),
}
"""Options that Python is told of in other words than the help page."""
_SEVERAL = re.compile("Sequence|Require|Checks")
"""What the annotation of a parameter has that takes several values."""
_LAST = ("name", "names", "db", "query", "where", "inputs", "read", "buckets", "limits", "roles")
"""The order of the parameters at the end of a signature."""


class PublicFunction(Generic[Q, R]):
    """A function of the library that takes what its request declares, and is given the request.

    Its callers are told which parameter has a type that it does not take: only when something failed, so that whatever
    works is taken; but at True and False before, since every text would be taken for True.

    Args:
        function: the function of the request; its docstring is that of the public function.
        request: the request. A parameter of a part that is no option has a name of `_TABLES`.
    """

    def __init__(self, function: Callable[..., R], request: type[Q]) -> None:
        self.request = request
        self.__wrapped__, self.__module__ = function, function.__module__
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__

    def __call__(self, *args: object, **named: object) -> R:
        try:
            bound = self.__signature__.bind(*args, **named)
        except TypeError as error:
            raise TypeError(f"{self.__name__}() {error}{self._near(named)}") from None
        arguments = [(name, self.parameters[name][0], value) for name, value in bound.arguments.items()]
        for name, annotation, value in arguments:
            if annotation == "bool" and type(value).__name__ not in ("bool", "bool_"):
                _refuse_wrong_type(name, annotation, value)
        given = self._with_tuples(bound.arguments)
        bound.arguments |= given
        bound.apply_defaults()
        try:
            result = self._answer(bound.arguments)
            if isinstance(result, Result) and is_python():
                from sqlaudit.base.python_call import call_of

                object.__setattr__(result, "call", call_of(self.__name__, given, self.options()))
            return result
        except (TypeError, AttributeError):
            for argument in arguments:
                _refuse_wrong_type(*argument)
            raise

    def _answer(self, given: Given) -> R:
        return self.__wrapped__(request_from(self.request, given))

    def _with_tuples(self, given: Given) -> dict[str, Any]:
        """Return the arguments with tuples for iterators, since several fields may read one option, each to its end.

        Arrays of numpy become tuples as well, since an array is neither true nor false.
        """
        arguments = {
            name: _as_tuple(value) if _SEVERAL.search(self.parameters[name][0]) else value
            for name, value in given.items()
        }
        if isinstance(roles := given.get("roles"), Mapping):
            arguments["roles"] = {name: _as_tuple(value) for name, value in roles.items()}
        return arguments

    def _near(self, named: Mapping[str, Any]) -> str:
        """Return a hint at the parameter that a wrong name may mean."""
        odd = next((name for name in named if name not in self.__signature__.parameters), "")
        near = "qi" if odd.startswith("qua") else next(iter(difflib.get_close_matches(odd, self.parameters, 1)), "")
        return f". Did you mean {near!r}?" if near in self.__signature__.parameters else ""

    def __get__(self, instance: object, owner: type | None = None) -> PublicFunction[Q, R]:
        return self  # what has this is a routine, for `help`

    def __reduce__(self) -> str:
        return self.__qualname__  # pickled by its name, as functions are

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__qualname__}>"

    def options(self) -> dict[str, Option]:
        """Return the options that a call in Python takes, by name."""
        options = (
            option
            for declared in parts_of(self.request)
            for option in ((declared,) if isinstance(declared, Option) else declared.options())
        )
        return {option.name: option for option in options if not option.only_command_line}

    @functools.cached_property
    def parameters(self) -> dict[str, ParameterOfPython]:
        """Type, default and text of each parameter, in the order of the signature."""
        parameters = {name: _SHARED.get(name) or option.in_python() for name, option in self.options().items()}
        for declared in parts_of(self.request):
            if isinstance(declared, RequestPart):
                parameters |= {name: _TABLES.get(name, _TABLES["target"]) for name in declared.parameters}
        parameters |= self._beside()
        last = {name: parameters.pop(name) for name in _LAST if name in parameters}
        return {**dict.fromkeys(self._positional(), ("", None, "")), **parameters, **last}

    def _beside(self) -> dict[str, ParameterOfPython]:
        """Return the parameters that are not of the request."""
        return {}

    def _positional(self) -> list[str]:
        """Return the parameters that may be given by position: targets, and options that say so."""
        names = [option.name for option in self.options().values() if option.positional]
        targets = [
            declared.parameters[0]
            for declared in parts_of(self.request)
            if isinstance(declared, RequestPart) and declared.kind
        ]
        return [*targets, *names]

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        positional = self._positional()
        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD if name in positional else inspect.Parameter.KEYWORD_ONLY,
                    default=default,
                    annotation=annotation,
                )
                for name, (annotation, default, _) in self.parameters.items()
            ],
            return_annotation=self.__wrapped__.__annotations__["return"],
        )

    def help_text(self) -> str:
        """Return the function's own text, with what each parameter is; what its own `Args:` says goes before."""
        head, *tail = re.split(
            r"(?=\n\n(?:Returns|Raises):)", inspect.cleandoc(self.__wrapped__.__doc__ or ""), maxsplit=1
        )
        head, _, args = head.partition("\n\nArgs:\n")
        texts = {name: text for name, (_, _, text) in self.parameters.items()}
        for names, text in re.findall(r"^    ([\w, ]+): (.*(?:\n {8}.*)*)", args, re.MULTILINE):
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
        grouped = itertools.groupby(self.__signature__.parameters, texts.__getitem__)
        layout: Any = {"initial_indent": " " * 4, "subsequent_indent": " " * 8, "break_on_hyphens": False}
        lines = [textwrap.fill(f"{', '.join(names)}: {text}", 116, **layout) for text, names in grouped]
        return "\n".join([f"{head}\n\nArgs:", *lines]) + "".join(tail)

    __doc__ = property(help_text)


def _as_tuple(value: Any) -> Any:
    """Return the tuple of what an iterator or an array of numpy has, and any other value as it is."""
    is_array = type(value).__name__ == "ndarray" and isinstance(value, Iterable)
    return tuple(value) if is_array or isinstance(value, Iterator) else value


class Command(PublicFunction[Asked, R]):
    """A command that reads tables: a typed request, and a function of an open engine and it.

    Args:
        function: measures, given the engine and the request.
        request: the request.
        plan: returns the statements that would run, as far as they are known before any has run.
        code: returns the exit code of a result.
        reads: returns the tables that a plan names: the target, unless it says otherwise.
        sql: returns the SELECT of a result that the command line prints after the report, empty for none.
        stopped: returns True if the user stopped the work and the result is what was found before.
        check: called before any work; raises UsageError for what a request cannot know of the database it is asked of.
        finish: called with the result when the engine is closed; returns the result to report.
    """

    def __init__(
        self,
        function: Callable[[Engine, Asked], R],
        request: type[Asked],
        plan: Callable[[Engine, Asked], Sequence[Statement]],
        code: Callable[[R], ExitCode] = lambda _: ExitCode.OK,
        reads: Callable[[Asked], Sequence[Target]] = lambda request: request.targets[:1],
        sql: Callable[[Asked, R], str] = lambda _request, _result: "",
        stopped: Callable[[R], bool] = lambda _: False,
        check: Callable[[Asked, Database], None] = lambda _request, _db: None,
        finish: Callable[[Asked, R, Database, Limits], R] = lambda _request, result, _db, _limits: result,
    ) -> None:
        super().__init__(function, request)
        self.run: Callable[[Engine, Asked], R] = function
        self.plan, self.code, self.reads, self.sql, self.stopped = plan, code, reads, sql, stopped
        self.check, self.finish = check, finish

    __doc__ = property(PublicFunction.help_text)

    def _beside(self) -> dict[str, ParameterOfPython]:
        return _ENGINE

    def _answer(self, given: Given) -> R:
        db, limits = given["db"], made(Limits, given["limits"], "limits")
        request = request_from(self.request, given)
        self.check(request, db)
        refuse_overwriting(written_files(request), files_read(db, request.targets))
        with opened(db, limits, *request.targets) as engine:
            result = self.run(engine, request)
        return self.finish(request, result, db, limits)


def command(
    request: type[Asked], plan: Callable[[Engine, Asked], Sequence[Statement]], **further: Callable[..., Any]
) -> Callable[[Callable[[Engine, Asked], R]], Command[Asked, R]]:
    """Return a decorator that makes a command of a function of an open engine and a request.

    Args:
        request, plan, further: as `Command` has them.
    """
    return lambda function: Command(function, request, plan, **further)


def public(request: type[Q]) -> Callable[[Callable[[Q], R]], PublicFunction[Q, R]]:
    """Return a decorator that makes a public function of a function of a request, which opens what it reads itself."""
    return lambda function: PublicFunction(function, request)


# Wrong types in Python calls, told by the parameter that has one: what a signature says is what is taken.

_TAKEN: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a text"),
    "bool": (bool, "True or False"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "Path": (os.PathLike, "a path"),
    "Mapping": (Mapping, "a mapping"),
    "Sequence": (Iterable, "a list"),
    "Iterable": (Iterable, "a list"),
    "tuple": (Iterable, "a pair of texts"),
    "Fraction": (Fraction, "a Fraction"),
    "Decimal": (Decimal, "a Decimal"),
}
"""The types that are checked here; others are checked where they are used."""


def _refuse_wrong_type(name: str, annotation: str, value: object) -> None:
    """Raise UsageError if an annotation such as `int | None` does not allow a value. Unknown types allow everything."""
    kinds = [kind.strip().partition("[")[0] for kind in annotation.split(" | ")]
    allowed = [_TAKEN[kind] for kind in kinds if kind in _TAKEN]
    if not allowed or "Any" in kinds or (value is None and "None" in kinds):
        return
    if any(isinstance(value, types) for types, _ in allowed):
        return
    if any(base.__name__ in kinds for base in type(value).__mro__):  # one of our classes, or a subclass
        return
    words = list(dict.fromkeys(words for _, words in allowed))
    expected = any_of(words)
    raise UsageError(f"{spelled(name)} takes {expected}, not a value of type {type(value).__name__}.") from None
