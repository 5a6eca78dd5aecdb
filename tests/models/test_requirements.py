"""Requirements mean what was written: signs, several in one text, the same in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.gates.reading import load_policy
from sqlaudit.models.base import Model, Parameter
from sqlaudit.models.registry import REGISTRY, parse_requirement, parse_requirements
from tests.cli.runner import run

SIGNS = ("<", "<=", ">", ">=")
PEOPLE = "age,sex,disease\n" + "30,f,flu\n30,f,cold\n" * 3
SIDES = {">=": "a lower limit (at least)", "<=": "an upper limit (at most)", "<": "an upper limit (below)"}


def value_of(parameter: Parameter) -> str:
    """A value that the parameter takes."""
    return "3" if parameter.kind == "integer" else "1" if (parameter.minimum or 0) >= 1 else "0.5"


def written(model: type[Model], sign: str) -> str:
    """A requirement of a model with this sign before its limit."""
    needed = [p for p in model.parameters if p.default is None]
    if [p.name for p in needed] in ([], [model.main]):
        return f"{model.name}{sign}{next(value_of(p) for p in model.parameters if p.name == model.main)}"
    return f"{model.name}{sign}{','.join(f'{p.name}:{value_of(p)}' for p in needed)}"


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("name", sorted(name for name, model in REGISTRY.items() if model.parameters))
def test_a_sign_that_contradicts_the_model_is_refused(name: str, sign: str) -> None:
    model = REGISTRY[name]
    text = written(model, sign)
    if sign == model.operator:
        assert parse_requirement(text).parameters == parse_requirement(written(model, "=")).parameters
        return
    with pytest.raises(UsageError) as caught:
        parse_requirement(text)
    expected = f"{text!r}: {name} is {SIDES[model.operator]}; write {model.operator} or =."
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("k=5", ["k=5"]),
        ("k=5,l=2", ["k=5", "l=2"]),
        ("k>=5 , t<=0.2,disclosure@3<0.8", ["k>=5", "t<=0.2", "disclosure@3<0.8"]),
        ("recursive_l=c:3,l:2,k=5", ["recursive_l=c:3,l:2", "k=5"]),
        ("k=5,recursive_l=c:3,l:2", ["k=5", "recursive_l=c:3,l:2"]),
    ],
)
def test_commas_separate_requirements(text: str, parts: list[str], tmp_path: Path) -> None:
    assert [one.text for one in parse_requirements(text)] == parts
    assert parse_requirements(text) == tuple(parse_requirement(part) for part in parts)
    policy = tmp_path / "policy.yml"
    table = "{table: t, quasi_identifiers: [age], sensitive: [disease], requirements: ['" + text + "']}"
    policy.write_text(f"tables: [{table}]", encoding="utf-8")
    squeezed = [part.replace(" ", "") for part in parts]
    assert [test.requirement for test in load_policy(policy).tables[0].tests] == squeezed


@pytest.mark.parametrize("text", ["k=5,", "k=5,l", "k=5,l=", "k=5;l=2", ",k=5", "k=5,,l=2"])
def test_what_is_no_list_of_requirements_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_requirements(text)


def test_every_form_takes_several_and_refuses_contradictions(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(PEOPLE, encoding="utf-8")
    roles = ("--qi", "age,sex", "--sensitive", "disease")
    both = run("audit", str(file), *roles, "--require", "k=5,l=3")
    twice = run("audit", str(file), *roles, "--require", "k=5", "--require", "l=3")
    assert (both.code, twice.code) == (1, 1)
    assert both.out.count("FAIL") == twice.out.count("FAIL")
    found = sqlaudit.audit(file, qi=["age", "sex"], sensitive="disease", require="k=5,l=3")
    verdicts = [(check.model, check.status.value) for check in found.required if check.status]
    assert verdicts == [("k_anonymity", "pass"), ("distinct_l_diversity", "fail")]
    for text in ("k<5", "k<=5", "k>5"):
        refused = run("audit", str(file), *roles, "--require", text)
        assert (refused.code, refused.out) == (2, "")
        assert f"{text!r}: k is a lower limit (at least); write >= or =." in refused.err
        with pytest.raises(UsageError, match="k is a lower limit"):
            sqlaudit.audit(file, qi="age", require=[text])
        with pytest.raises(UsageError):
            sqlaudit.audit(file, qi="age", require={"k": text[1:]})
        with pytest.raises(UsageError, match="k is a lower limit"):
            sqlaudit.compile_checks("t", qi="age", checks=[text], dialect="duckdb")
