"""From a template to a statement: Jinja renders, sqlglot spells it for engines other than DuckDB (`spelling.py`)."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import PLACEHOLDER, spoken
from sqlaudit.base.relation import Statement

if TYPE_CHECKING:
    import jinja2


# Templates are written in DuckDB's dialect. SQL that comes from the user or from an engine (a quoted table, an
# expression over columns) is already in the engine's own dialect: it enters as `Raw`, travels through transpiling
# as a placeholder identifier, and is put in unchanged afterwards.

_HERE = Path(__file__).resolve().parents[1]
_MADE_BY = "jinja2_version"


@dataclass(frozen=True)
class Raw:
    """SQL that is already written in the engine's dialect: an expression or a FROM item."""

    sql: str


def template_folder() -> Path:
    """Where the templates are: inside the installed package, or beside it in a checkout."""
    installed = _HERE / "sql_templates"
    return installed if installed.is_dir() else _HERE.parent / "sql_templates"


@functools.cache
def environment() -> jinja2.Environment:
    """Return the Jinja environment of all templates: undefined names are errors, blocks leave no blank lines."""
    return _environment(_loader(_HERE / "sql_compiled"), _kept())


def compile_templates(folder: Path) -> None:
    """Write every template as a Python module, as Jinja makes it, for a wheel: starting is faster by what that takes.

    They are put beside the package's own modules when the wheel is built, so that nobody can change them who cannot
    change the package. Jinja's code is made for the Jinja that wrote it, which a file in the folder names.
    """
    import jinja2

    env = _environment(jinja2.FileSystemLoader(template_folder()))
    env.compile_templates(
        folder, zip=None, filter_func=lambda name: name.endswith(".sql") and not name.startswith("dbt/")
    )
    (folder / _MADE_BY).write_text(jinja2.__version__, encoding="utf-8")


def _loader(compiled: Path) -> jinja2.BaseLoader:
    """Compiled templates where they are there and this Jinja made them, else their text."""
    import jinja2

    texts = jinja2.FileSystemLoader(template_folder())
    made_by = compiled / _MADE_BY
    if not made_by.is_file() or made_by.read_text(encoding="utf-8") != jinja2.__version__:
        return texts
    return jinja2.ChoiceLoader([jinja2.ModuleLoader(compiled), texts])


def _kept() -> jinja2.BytecodeCache | None:
    """In a checkout, what Jinja makes of a text is kept beside it, as Python keeps modules; a wheel is compiled."""
    import jinja2

    folder = template_folder()
    if sys.dont_write_bytecode or folder.parent == _HERE or not os.access(folder, os.W_OK):
        return None
    kept = folder / "__pycache__"
    kept.mkdir(exist_ok=True)
    return jinja2.FileSystemBytecodeCache(str(kept))


def _environment(loader: jinja2.BaseLoader, kept: jinja2.BytecodeCache | None = None) -> jinja2.Environment:
    import jinja2

    env = jinja2.Environment(
        loader=loader,
        bytecode_cache=kept,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    env.globals["zip"] = zip
    return env


def render(template: str, dialect: str, *, step: str = "", plain_order: bool = False, **parameters: Any) -> Statement:
    """Return a template as one statement in the engine's dialect, headed by a comment that names its step.

    Args:
        template: the file's name in `sql_templates`, for instance `classes/totals.sql`.
        dialect: the sqlglot name of the dialect.
        step: the step's name; empty = the template's name.
        plain_order: whether places of NULLs in an order do not matter, and are left to the dialect.
        parameters: what the template needs; text from users or engines only as `Raw`, `Relation` or `Resolved`.

    Raises:
        jinja2.UndefinedError: a parameter is missing.

    Example:
        >>> render("base/row_count.sql", "duckdb", source=Raw('"a table"')).sql.splitlines()[-1]
        'FROM "a table"'
    """
    text = _spelled(template, dialect, {"wide": spoken(dialect).wide, **parameters}, plain_order)
    name = step or PurePosixPath(template).stem
    return Statement(name, f"/* sqlaudit: {name} */\n{text.strip()}")


def expression(template: str, dialect: str, **parameters: Any) -> str:
    """Return a template that holds one expression, as `render` makes it but without a heading.

    Example:
        >>> expression("hierarchies/hierarchy_mask.sql", "duckdb", value=Raw("zip"), count=2, keeps=False).count("zip")
        3
    """
    return _spelled(template, dialect, parameters)


def _spelled(template: str, dialect: str, parameters: Mapping[str, Any], *plain_order: bool) -> str:
    raws: dict[str, str] = {}
    given = {name: _place(value, dialect, raws) for name, value in parameters.items()}
    text = environment().get_template(template).render({"dialect": dialect, **given}).strip()
    if dialect == "duckdb":
        return text
    from sqlaudit.base.spelling import spell

    return spell(text, dialect, raws, *plain_order)


def _place(value: Any, dialect: str, raws: dict[str, str]) -> Any:
    own = getattr(value, "sql", None)  # of a `Raw`, a `Relation`, or a `Resolved` column: the engine's own SQL
    if isinstance(own, str):
        if dialect == "duckdb":
            return own
        name = f"{PLACEHOLDER}{len(raws)}"
        raws[name] = own
        return name
    if isinstance(value, list | tuple):
        return [_place(item, dialect, raws) for item in value]
    if isinstance(value, dict):
        return {key: _place(item, dialect, raws) for key, item in value.items()}
    return value
