"""Statements from templates: Jinja renders them, sqlglot translates them for other engines than DuckDB."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import PLACEHOLDER, spoken
from sqlaudit.base.relation import Statement

if TYPE_CHECKING:
    import jinja2


# Templates are written in DuckDB's dialect. SQL that comes from the user or from an engine (a quoted table, an
# expression over columns) is already in the engine's own dialect: it is given as `Raw`, replaced by a placeholder
# during the translation, and put in unchanged afterwards.

_HERE = Path(__file__).resolve().parents[1]
_MADE_BY = "jinja2_version"


@dataclass(frozen=True)
class Raw:
    """SQL that is already written in the engine's dialect: an expression or a FROM item."""

    sql: str


def template_folder() -> Path:
    """Return the folder of the templates: inside the installed package, or beside it in a checkout."""
    installed = _HERE / "sql_templates"
    return installed if installed.is_dir() else _HERE.parent / "sql_templates"


@functools.cache
def environment() -> jinja2.Environment:
    """Return the Jinja environment of all templates: undefined names are errors, blocks leave no blank lines."""
    return _make_environment(_make_loader(_HERE / "sql_compiled"), _bytecode_cache())


def compile_templates(folder: Path) -> None:
    """Write each template as a Python module, as Jinja compiles it, for a wheel, which then starts faster.

    They are put beside the package's own modules when the wheel is built, so that only those who can change the package
    can change them. Jinja's code fits only the version that compiled it, which a file in the folder names.
    """
    import jinja2

    env = _make_environment(jinja2.FileSystemLoader(template_folder()))
    env.compile_templates(
        folder, zip=None, filter_func=lambda name: name.endswith(".sql") and not name.startswith("dbt/")
    )
    (folder / _MADE_BY).write_text(jinja2.__version__, encoding="utf-8")


def _make_loader(compiled: Path) -> jinja2.BaseLoader:
    """Return a loader of compiled templates if this version of Jinja compiled them, else of their texts."""
    import jinja2

    texts = jinja2.FileSystemLoader(template_folder())
    made_by = compiled / _MADE_BY
    if not made_by.is_file() or made_by.read_text(encoding="utf-8") != jinja2.__version__:
        return texts
    return jinja2.ChoiceLoader([jinja2.ModuleLoader(compiled), texts])


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Return the cache of compiled templates in a checkout, beside the texts, as Python keeps modules; else None."""
    import jinja2

    folder = template_folder()
    if sys.dont_write_bytecode or folder.parent == _HERE or not os.access(folder, os.W_OK):
        return None
    cache_folder = folder / "__pycache__"
    cache_folder.mkdir(exist_ok=True)
    return jinja2.FileSystemBytecodeCache(str(cache_folder))


def _make_environment(loader: jinja2.BaseLoader, cache: jinja2.BytecodeCache | None = None) -> jinja2.Environment:
    """Return a Jinja environment with this loader and the settings of all templates."""
    import jinja2

    env = jinja2.Environment(
        loader=loader,
        bytecode_cache=cache,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    env.globals["zip"] = zip
    return env


def render(
    template: str, dialect: str, *, step: str = "", plain_order: bool = False, **parameters: object
) -> Statement:
    """Return a template as one statement in the engine's dialect, after a comment that names its step.

    Args:
        template: the file's name in `sql_templates`, for instance `classes/totals.sql`.
        dialect: the sqlglot name of the dialect.
        step: the step's name; empty = the template's name.
        plain_order: True if the order of NULLs does not matter, and is left to the dialect.
        parameters: the parameters of the template; text from users or engines only as `Raw`, `Relation` or `Resolved`.

    Raises:
        jinja2.UndefinedError: a parameter is missing.

    Example:
        >>> render("base/row_count.sql", "duckdb", source=Raw('"a table"')).sql.splitlines()[-1]
        'FROM "a table"'
    """
    text = _render_text(template, dialect, {"wide": spoken(dialect).wide, **parameters}, plain_order)
    name = step or PurePosixPath(template).stem
    return Statement(name, f"/* sqlaudit: {name} */\n{text.strip()}")


def expression(template: str, dialect: str, **parameters: object) -> str:
    """Return a template that has one expression, as `render` makes it but without a comment.

    Example:
        >>> expression("hierarchies/hierarchy_mask.sql", "duckdb", value=Raw("zip"), count=2, keeps=False).count("zip")
        3
    """
    return _render_text(template, dialect, parameters)


def _render_text(template: str, dialect: str, parameters: Mapping[str, object], *plain_order: bool) -> str:
    """Return the text of a template in a dialect."""
    raws: dict[str, str] = {}
    values = {name: _with_placeholders(value, dialect, raws) for name, value in parameters.items()}
    text = environment().get_template(template).render({"dialect": dialect, **values}).strip()
    if dialect == "duckdb":
        return text
    from sqlaudit.base.spelling import spell

    return spell(text, dialect, raws, *plain_order)


def _with_placeholders(value: object, dialect: str, raws: dict[str, str]) -> object:
    """Return a parameter with placeholders for raw SQL, which is added to `raws`; DuckDB needs no placeholders."""
    engine_sql = getattr(value, "sql", None)  # of a `Raw`, a `Relation`, or a `Resolved` column: the engine's own SQL
    if isinstance(engine_sql, str):
        if dialect == "duckdb":
            return engine_sql
        name = f"{PLACEHOLDER}{len(raws)}"
        raws[name] = engine_sql
        return name
    if isinstance(value, list | tuple):
        return [_with_placeholders(item, dialect, raws) for item in value]
    if isinstance(value, dict):
        return {key: _with_placeholders(item, dialect, raws) for key, item in value.items()}
    return value
