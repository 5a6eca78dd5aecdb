"""Ready to be released: what is built is looked at, what is documented works from a checkout, lists say the same."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib
from collections.abc import Iterator
from typing import Any

import yaml

from tests.places import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
DOCS = [REPOSITORY / "README.md", *REPOSITORY.glob("C*.md"), *(REPOSITORY / "docs").rglob("*.md")]


def read(path: str) -> Any:
    return yaml.safe_load((REPOSITORY / path).read_text("utf-8"))


def check() -> Any:
    """The program that looks at a release."""
    found = importlib.util.spec_from_file_location("check_release", REPOSITORY / ".ci" / "check_release.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def wheel_names(module: Any, metadata: str) -> Iterator[str]:
    for folder, inside in (("sqlaudit", "sqlaudit"), ("sql_templates", "sqlaudit/sql_templates")):
        for path in module.files(REPOSITORY / folder):
            yield f"{inside}/{path.relative_to(REPOSITORY / folder).as_posix()}"
    yield from (f"{metadata}{name}" for name in ("METADATA", "RECORD", "licenses/LICENSE", "entry_points.txt"))
    yield from (f"sqlaudit/pages/{page}.md" for page in ("equality", "gate", "glossary", "verdicts"))
    yield from ("sqlaudit/sql_compiled/tmpl_a.py", "sqlaudit/sql_compiled/jinja2_version")


def test_a_wheel_with_a_test_or_without_a_template_is_no_release() -> None:
    module, metadata = check(), "sqlaudit-1.dist-info/"
    names = list(wheel_names(module, metadata))
    assert list(module.of_wheel(names, metadata)) == []
    said = list(module.of_wheel([*names, "tests/test_a.py"], metadata))
    assert said[0] == "The wheel holds tests/test_a.py, which is no part of the package."
    names.remove("sqlaudit/sql_templates/classes/facts.sql")
    names.remove("sqlaudit/sql_compiled/tmpl_a.py")
    assert list(module.of_wheel(names, metadata)) == [
        "The wheel lacks sqlaudit/sql_templates/classes/facts.sql.",
        "The wheel has no compiled templates.",
    ]


def test_a_release_has_one_wheel_and_the_version_of_its_tag(tmp_path: Any) -> None:
    said = list(check().problems(tmp_path, "v0.0.0"))
    version = PROJECT["version"]
    assert said[0] == f"The tag is v0.0.0, and the version {version}."
    assert f"one wheel and one sdist of version {version}" in said[1]


def test_the_workflow_builds_what_the_checks_build_and_publishes_without_a_secret() -> None:
    text = (REPOSITORY / ".github/workflows/release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert [step["run"] for step in jobs["build"]["steps"] if "run" in step] == [".ci/release dist"]
    assert ".ci/release " in (REPOSITORY / ".ci/run").read_text("utf-8")
    assert (jobs["attest"]["needs"], jobs["publish"]["needs"]) == ("build", "attest")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text
    assert yaml.safe_load(text)["permissions"] == {}


def test_every_change_runs_the_checks() -> None:
    (job,) = read(".github/workflows/ci.yml")["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]


def test_the_bounds_that_the_oldest_stage_installs_are_all_of_them() -> None:
    """It takes a bound for a name, `>=` and a version, and the tools of tests for what begins with `test = `."""
    before = (REPOSITORY / "pyproject.toml").read_text("utf-8").partition("\ntest = ")[0]
    found = {f"{name}{bound}" for name, bound in re.findall(r'"([a-z0-9_-]+(?:\[[a-z]+\])?)(>=[0-9.]+)"', before)}
    users = {name for name in PROJECT["optional-dependencies"] if name not in ("test", "lint", "all")}
    promised = {*PROJECT["dependencies"], *(one for name in users for one in PROJECT["optional-dependencies"][name])}
    assert promised <= found


def test_issue_forms_ask_for_something_and_warn_of_values() -> None:
    for form in ("fault", "wish"):
        found = read(f".github/ISSUE_TEMPLATE/{form}.yml")
        assert {"name", "description", "body"} <= set(found)
        assert any(one.get("validations", {}).get("required") for one in found["body"])
        assert "values of real people out" in str(found)


CONDA = {"duckdb": "python-duckdb"}


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = read("conda/recipe.yaml")
    expected = {
        re.sub(r"^([\w-]+)(.*)$", lambda one: f"{CONDA.get(one[1], one[1])} {one[2]}", text)
        for text in PROJECT["dependencies"]
    }
    assert set(recipe["requirements"]["run"]) == {f"python {PROJECT['requires-python']}", *expected}
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {to}" for name, to in PROJECT["scripts"].items()]


def test_versions_are_the_same_everywhere() -> None:
    import sqlaudit

    found = {
        read("CITATION.cff")["version"],
        read("sql_templates/dbt/dbt_project.yml")["version"],
        sqlaudit.__version__,
    }
    assert found == {PROJECT["version"]}
    assert re.fullmatch(r"[1-9]\d*\.\d+\.\d+", PROJECT["version"])
    assert "Development Status :: 5 - Production/Stable" in PROJECT["classifiers"]


def test_every_page_is_in_the_site() -> None:
    listed = {page for part in read("mkdocs.yml")["nav"] for pages in part.values() for page in pages}
    pages = {path.relative_to(REPOSITORY / "docs").as_posix() for path in (REPOSITORY / "docs").rglob("*.md")}
    assert pages - listed == set()
    assert listed - pages == {"index.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}


def test_no_page_has_a_placeholder_in_the_place_of_an_address() -> None:
    found = [
        (page.name, text)
        for page in DOCS
        for text in re.findall(r"OWNER|rev: v\d|revision: v\d|https?://…", page.read_text("utf-8"))
    ]
    assert found == []


def blocks(page: str, kind: str) -> list[str]:
    text = (REPOSITORY / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_hooks_of_the_page_are_those_of_the_repository() -> None:
    shown = next(yaml.safe_load(text) for text in blocks("gate.md", "yaml") if text.startswith("repos:"))
    own = {hook["id"]: hook for hook in read(".pre-commit-hooks.yaml")}
    for hook in shown["repos"][0]["hooks"]:
        same = ("name", "entry", "pass_filenames", "files", "always_run", "stages")
        assert {name: hook.get(name) for name in same} == {name: own[hook["id"]].get(name) for name in same}


def test_the_recipe_for_gitlab_runs_commands_that_there_are() -> None:
    (job,) = [yaml.safe_load(text)["privacy"] for text in blocks("gate.md", "yaml") if text.startswith("privacy:")]
    asked = job["script"][1].split()
    ran = subprocess.run([*asked, "--list"], capture_output=True, text=True, check=False)
    assert (ran.returncode, "sqlaudit.yml" in ran.stderr, "No such option" in ran.stderr) == (2, True, False)
