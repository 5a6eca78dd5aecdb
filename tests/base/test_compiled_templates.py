"""Templates that a wheel has compiled: the same statements, and never those of another Jinja."""

import sys
from pathlib import Path

import jinja2
import pytest

from sqlaudit.base import sql
from sqlaudit.base.sql import Raw, compile_templates, template_folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sql_compiled")
    compile_templates(folder)
    return folder


def test_every_template_is_compiled_once(compiled: Path) -> None:
    templates = {path.relative_to(template_folder()).as_posix() for path in template_folder().rglob("*.sql")}
    own = {name for name in templates if not name.startswith("dbt/")}
    assert {jinja2.ModuleLoader.get_module_filename(name) for name in own} == {
        path.name for path in compiled.glob("*.py")
    }


def test_a_compiled_template_is_the_same_statement(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"keys": [Raw("age"), Raw("zip")], "source": Raw("people")}
    from_text = sql.render("base/row_count.sql", "duckdb", **asked)
    made = sql._make_environment(sql._make_loader(compiled))
    monkeypatch.setattr(sql, "environment", lambda: made)
    assert sql.render("base/row_count.sql", "duckdb", **asked) == from_text
    assert "tmpl_" in made.get_template("base/row_count.sql").root_render_func.__module__


def test_templates_of_another_jinja_are_read_as_texts(compiled: Path, tmp_path: Path) -> None:
    assert isinstance(sql._make_loader(compiled), jinja2.ChoiceLoader)
    (tmp_path / "jinja2_version").write_text("2.0", encoding="utf-8")
    for other in (tmp_path, tmp_path / "not there"):
        assert isinstance(sql._make_loader(other), jinja2.FileSystemLoader)


def test_what_a_checkout_compiled_is_kept_beside_its_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = tmp_path / "sql_templates"
    texts.mkdir()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sql, "template_folder", lambda: texts)
    made = sql._make_environment(jinja2.DictLoader({"a.sql": "SELECT {{ n }}"}), sql._bytecode_cache())
    assert made.get_template("a.sql").render(n=1) == "SELECT 1"
    assert len(list((texts / "__pycache__").iterdir())) == 1
    changed = sql._make_environment(jinja2.DictLoader({"a.sql": "SELECT {{ n }} + 1"}), sql._bytecode_cache())
    assert changed.get_template("a.sql").render(n=1) == "SELECT 1 + 1"


def test_nothing_is_kept_of_an_installed_package_or_where_python_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert sql._bytecode_cache() is None
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sql, "_HERE", sql.template_folder().parent)
    assert sql._bytecode_cache() is None
