"""The macros of the dbt package without dbt: what dbt adds to Jinja, as far as they use it."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import jinja2

from sqlaudit.base.sql import template_folder

PARENTS = {"databricks": "spark"}


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__("returned")
        self.value = value


class Refused(Exception):
    """What a macro raises with exceptions.raise_compiler_error."""


@functools.cache
def package(adapter: str) -> Mapping[str, Callable[..., Any]]:
    """All macros of the package, as a project on that adapter calls them; tests are called `test_…`."""
    macros: dict[str, Callable[..., Any]] = {}

    def dispatch(name: str, _: str) -> Callable[..., Any]:
        wanted = [adapter, *([PARENTS[adapter]] if adapter in PARENTS else []), "default"]
        return next(macros[f"{one}__{name}"] for one in wanted if f"{one}__{name}" in macros)

    def give(value: Any) -> None:
        raise _Returned(value)

    def refuse(sentence: str) -> None:
        raise Refused(sentence)

    env = jinja2.Environment(undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do"], autoescape=False)
    env.globals.update(
        {
            "sqlaudit": macros,
            "adapter": SimpleNamespace(dispatch=dispatch, quote=lambda name: f'"{name}"'),
            "return": give,
            "execute": False,
            "exceptions": SimpleNamespace(raise_compiler_error=refuse),
            "modules": SimpleNamespace(re=re),
            "dbt": SimpleNamespace(
                string_literal=lambda text: f"'{text}'",
                escape_single_quotes=lambda text: text,
                type_string=lambda: "VARCHAR",
            ),
        }
    )
    for file in sorted((template_folder() / "dbt" / "macros").rglob("*.sql")):
        if file.parent.name == "answers":  # a materialization, which only dbt has
            continue
        text = re.sub(r"\{%-? test (\w+)", r"{% macro test_\1", file.read_text(encoding="utf-8"))
        module = env.from_string(re.sub(r"endtest", "endmacro", text)).module
        for name, macro in vars(module).items():
            if isinstance(macro, jinja2.runtime.Macro):
                macros[name] = _returning(macro)
    return macros


def _returning(macro: Any) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return macro(*arguments, **named)
        except _Returned as returned:
            return returned.value

    return call
