"""Wrong types in Python: every parameter of every public function says what it takes."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.options import request_from
from tests.places import REPOSITORY

PEOPLE = pd.DataFrame({"age": [20, 20, 30, 30, 41], "sex": list("ffmmf"), "ill": list("aabba")})
MOVED = pd.DataFrame({"user": [1, 2], "x": [0.0, 1.0], "y": 0.0, "time": 0})
ROLES = {"qi": "age,sex", "sensitive": "ill"}
REQUIRED = {"qi": "age,sex", "require": {"k": 2}}
KNOWN = {"people": {"Ann": {"age": 20, "sex": "f"}}, "knowledge": [], "ask": {"Ann": "a"}}
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "aggregates": ((PEOPLE,), {"by": "sex,ill", "count": "age", "require": "threshold=3"}),
    "attack": ((PEOPLE,), ROLES),
    "audit": ((PEOPLE,), ROLES),
    "audit_boxes": ((MOVED,), {"k": 2}),
    "cloak": ((MOVED,), {"user": "user", "x": "x", "y": "y", "time": "time", "k": 2, "box": 4, "interval": 1}),
    "columns": ((PEOPLE,), {}),
    "compare": ((PEOPLE, PEOPLE), {"qi": "age,sex"}),
    "cube": ((PEOPLE,), {"dimensions": "sex", "require": "threshold=2"}),
    "compile_checks": (("people",), ROLES),
    "disclosure_curve": ((PEOPLE,), ROLES),
    "gate": ((), {}),
    "hierarchy": ((PEOPLE, "age", {"widths": [10]}), {}),
    "lattice": ((PEOPLE,), REQUIRED),
    "persons": ((PEOPLE,), {"entity": "age", "qi": "sex"}),
    "profile": ((PEOPLE,), {}),
    "recode": ((PEOPLE,), REQUIRED),
    "records": ((PEOPLE,), {"qi": "age,sex"}),
    "releases": (([PEOPLE, PEOPLE],), {"entity": "age", "qi": "sex", "sensitive": "ill"}),
    "suppress": ((PEOPLE,), REQUIRED),
    "what_if": ((PEOPLE,), {**ROLES, "given": KNOWN}),
}
NOT_LOOKED_AT = {"dbt_target", "largest", "node", "run", "terms", "today", "witness"}
"""Parameters that mean something beside others only."""
SHARED = {"db", "query", "where", "read", "limits", "nulls", "show_values", "roles"}
"""The same in every function, and asked of one."""
WIDE = re.compile("Sequence|Mapping|Path|Require|Checks|bool")
"""What a signature says of parameters that no option of a request reads alone."""


class Odd:
    """A value of a type that nothing takes."""


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_wrong_type_is_told_by_the_parameter(name: str) -> None:
    function = getattr(sqlaudit, name)
    positional, named = CALLS[name]
    for place, (parameter, said) in enumerate(inspect.signature(function).parameters.items()):
        if parameter in NOT_LOOKED_AT or (parameter in SHARED and name != "audit") or not WIDE.search(said.annotation):
            continue
        given = [*positional]
        kept = {key: value for key, value in named.items() if parameter != "roles" or key not in ROLES}
        if place < len(given):
            given[place] = Odd()
        else:
            kept[parameter] = Odd()
        with pytest.raises(SqlauditError):
            function(*given, **kept)


def test_every_public_function_is_here() -> None:
    assert {*CALLS} == {name for name in sqlaudit.__all__ if name.islower() and not name.startswith("_")}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sqlaudit.audit(PEOPLE, **ROLES, require=3), "require= takes a mapping such as {'k': 5}, a text or"),
        (lambda: sqlaudit.audit(PEOPLE, qi="age", where=5), "where= takes a text, not a value of type int."),
        (lambda: sqlaudit.gate(None), "policy= takes a text or a path, not a value of type NoneType."),
        (lambda: sqlaudit.gate(5), "policy= takes a text or a path, not a value of type int."),
        (lambda: sqlaudit.what_if(PEOPLE, **ROLES, given=5), "given= takes a mapping, a text or a path, not"),
        (lambda: sqlaudit.lattice(PEOPLE, **REQUIRED, hierarchies=5), "hierarchies= takes a mapping by column, or a f"),
        (
            lambda: sqlaudit.hierarchy(PEOPLE, "age", {"widths": [5]}, show_values="no"),
            "show_values= takes True or False, not a value of type str.",
        ),
        (lambda: sqlaudit.attack(PEOPLE, **ROLES, key=5), "key= takes a column, or a pair of column names"),
        (lambda: sqlaudit.compile_checks("t", qi="age", checks=5), "checks= takes a mapping such as {'k': 5}, a text"),
    ],
)
def test_the_sentence_says_what_is_taken(call: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match="^" + re.escape(sentence)):
        call()


def test_what_python_says_of_unknown_parameters_stays() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'quasi'"):
        sqlaudit.audit(PEOPLE, quasi="age")
    assert str(inspect.signature(sqlaudit.gate).parameters["policy"].annotation) == "str | Path"
    assert Path(inspect.unwrap(sqlaudit.gate).__code__.co_filename).name == "api.py"


def test_the_stub_is_what_the_functions_say(tmp_path: Path) -> None:
    subprocess.run([sys.executable, REPOSITORY / "docs" / "make_stubs.py", tmp_path], check=True)
    kept = REPOSITORY / "sqlaudit" / "__init__.pyi"
    assert (tmp_path / kept.name).read_text("utf-8") == kept.read_text("utf-8"), "run python docs/make_stubs.py"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_help_has_a_text_for_every_parameter(name: str) -> None:
    function = getattr(sqlaudit, name)
    _, args, rest = (inspect.getdoc(function) or "").partition("Args:\n")
    said = set(re.findall(r"\w+", " ".join(re.findall(r"^    ([\w, ]+): \S", rest, re.MULTILINE))))
    assert args, name
    assert {*inspect.signature(function).parameters} <= said, name
    assert "--" not in args, name
    assert f"{name}({next(iter(inspect.signature(function).parameters))}: " in pydoc.plain(pydoc.render_doc(function))


def test_a_public_function_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(sqlaudit.recode)) is sqlaudit.recode


def test_names_from_a_generator_are_read_once() -> None:
    levels: Any = {"age": {"widths": [10]}}
    listed = sqlaudit.attack(PEOPLE, qi=["age", "sex"], sensitive="ill", values="exact", hierarchies=levels)
    roles: list[dict[str, Any]] = [
        {"qi": (name for name in ("age", "sex")), "sensitive": "ill", "values": "exact"},
        {"roles": {"qi": (name for name in ("age", "sex")), "sensitive": "ill", "values": "exact"}},
        {"qi": numpy.array(["age", "sex"]), "sensitive": "ill", "values": "exact"},
    ]
    for named in roles:
        assert sqlaudit.attack(PEOPLE, **named, hierarchies=levels).to_dict()["attacks"] == listed.to_dict()["attacks"]


def test_an_array_of_names_is_a_list_of_names() -> None:
    names: Any = numpy.array(["age", "sex"])
    with pytest.raises(UsageError, match="roles= and qi= both name columns"):
        sqlaudit.audit(PEOPLE, qi=names, roles={"entity": "ill"})
    with pytest.raises(UsageError, match="roles= and columns= both name columns"):
        sqlaudit.columns(PEOPLE, columns=names, roles={"entity": "ill"})
    with pytest.raises(UsageError, match="'k' is about rows of people, not cells"):
        sqlaudit.compile_checks("people", qi="age", checks={"k": 2}, largest=names)


@pytest.mark.parametrize("name", sorted({*CALLS} - {"audit_boxes", "releases", "gate", "compile_checks"}))
def test_a_flag_may_be_a_bool_of_numpy(name: str) -> None:
    function = getattr(sqlaudit, name)
    positional, named = CALLS[name]
    parameters = inspect.signature(function).parameters.values()
    flags = [one.name for one in parameters if one.annotation == "bool" and one.default is False]
    result = function(*positional, **named, **dict.fromkeys(flags, numpy.False_))
    assert type(result) is type(function(*positional, **named))


def test_conditions_and_queries_are_not_in_the_text_of_a_request() -> None:
    cells = {"target": PEOPLE, "by": "sex", "count": "age", "structural": "ill = 'measles'", "where": "ill = 'measles'"}
    tables = {"original": PEOPLE, "release": PEOPLE, "qi": "age", "queries": ["SELECT 1 WHERE ill = 'measles'"]}
    for function, named in ((sqlaudit.aggregates, cells), (sqlaudit.compare, tables)):
        assert "measles" not in repr(request_from(getattr(function, "request"), named))  # noqa: B009
