"""The page on security: every test that it names as a proof is there, and so are the programs that it names."""

from __future__ import annotations

import ast
import re

import pytest

from tests.places import REPOSITORY

ROOT = REPOSITORY
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PROOFS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def functions(file: str) -> set[str]:
    """The names of the functions of a module."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("file", "name"), PROOFS)
def test_the_proof_of_a_promise_is_there(file: str, name: str) -> None:
    assert name in functions(file)
    assert name.startswith("test_")


def test_every_promise_has_a_proof() -> None:
    promised = PAGE.split("## Promises", 1)[1].split("## A table that is written to", 1)[0]
    bullets = re.split(r"^- ", promised, flags=re.MULTILINE)[1:]
    assert len(bullets) >= 18
    assert [bullet for bullet in bullets if "`tests/" not in bullet] == []
    assert len(PROOFS) >= 40


def test_the_programs_of_the_page_are_there() -> None:
    named = set(re.findall(r"`python -m ([\w.]+)", PAGE))
    assert named == {"benchmarks.soak", "benchmarks.fuzz", "benchmarks.fuzz_coverage", "tests.security.dependencies"}
    for module in named:
        assert (ROOT / (module.replace(".", "/") + ".py")).is_file()
