"""The pages say what happens: their commands and their Python run, and print what the page shows.

In a page, ```console blocks hold commands after `$ ` (continued after `> `) with their output, and ```pycon blocks hold
Python. `...` stands for any text. Every page runs in an empty folder of its own; ```sh blocks are not run here (the
command that installs and tests is run by `.ci/run`), and ```console dbt blocks are run by `tests/dbt`, which has dbt.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import linecache
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlaudit
from tests.pages.warm import ask
from tests.places import REPOSITORY

ROOT = REPOSITORY
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
STORIES = sorted((ROOT / "docs" / "stories").glob("*.md"))
"""Pages too, run by a module of their own, so that another process can take them."""
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN = re.compile(r"""sqlaudit( +([\w@%+=:,./-]|'[^']*'|"[^"$`\\!]*")+)+\s*""")
"""A command that a shell would only part into its words."""
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
CHECKER = doctest.OutputChecker()


def blocks(page: Path) -> list[tuple[str, str]]:
    """The kind and text of every block of a page that runs."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def steps(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block with the output that the page shows."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        end = next((i for i, line in enumerate(lines) if i and not line.startswith("> ")), len(lines))
        command = "\n".join(line.removeprefix("> ") for line in lines[:end])
        yield command, "".join(line + "\n" for line in lines[end:])


def run(command: str, folder: Path, *programs: Path) -> str:
    """What a command prints, as a person at a plain terminal of 80 columns sees it."""
    path = os.pathsep.join([*map(str, programs), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    environment = {**kept, "PATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    plain = command.replace("\\\n", " ")
    if programs and PLAIN.fullmatch(plain):  # a shell and a client would take as long as many a command
        return ask(programs[0].parent / "socket", shlex.split(plain)[1:], folder, environment)
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return ran.stdout


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    programs = () if page.name == "README.md" else (warm,)  # one page in processes that start as a user's do
    run_page(page, tmp_path, *programs)


def run_page(page: Path, folder: Path, *programs: Path) -> None:
    """Run every block of a page in a folder, which is the current one, and compare what is printed."""
    names: dict[str, object] = {}
    for kind, text in blocks(page):
        if kind == "pycon":
            test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
            said: list[str] = []
            result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
            names = test.globs
            assert not result.failed, "".join(said)
            continue
        for command, shown in steps(text):
            printed = run(command, folder, *programs)
            same = CHECKER.check_output(shown, printed, doctest.ELLIPSIS)
            assert same, f"$ {command}\nis shown with\n{shown}\nbut prints\n{printed}"


@pytest.mark.parametrize("page", [*PAGES, *STORIES, *ROOT.glob("C*.md")], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert missing == []


def test_the_first_screen_runs_something() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("$ sqlaudit") for line in lines[:30])


def test_the_commands_that_install_are_those_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("pip install '.[demo]' && sqlaudit demo\n") == 1
    assert readme.count("pip install -e '.[test]' && python -m pytest\n") == 1


def test_examples_in_docstrings_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [module.name for module in pkgutil.walk_packages(sqlaudit.__path__, "sqlaudit.")]
    if importlib.util.find_spec("pyspark") is None:  # Spark's tests have an environment of their own
        names = [name for name in names if not name.startswith("sqlaudit.engines.spark")]
    modules = [importlib.import_module(name) for name in names]
    monkeypatch.setattr(linecache, "checkcache", lambda filename=None: None)  # else all files, before every example
    with_examples = [module for module in modules if ">>>" in Path(str(module.__file__)).read_text(encoding="utf-8")]
    found = {module.__name__: doctest.testmod(module) for module in with_examples}
    assert {name: result.failed for name, result in found.items() if result.failed} == {}
    assert sum(result.attempted for result in found.values()) > 50


def test_generating_the_page_of_models_again_changes_nothing() -> None:
    generated = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_models.py", "--print"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert generated.stdout == (ROOT / "docs" / "models.md").read_text(encoding="utf-8"), (
        "docs/models.md is not what the registry says; run python docs/make_models.py"
    )
