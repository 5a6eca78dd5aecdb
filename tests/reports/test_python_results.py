"""Results where people meet them in Python: printed, in a notebook, as a frame, in a file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.hierarchies.result import HierarchyResult
from sqlaudit.reports.notebook import Shown
from tests.places import REPOSITORY

PEOPLE = pd.DataFrame({"age": [20, 20, 30, 30, 41], "sex": list("ffmmf"), "ill": list("aabba")})
NAMED = PEOPLE.assign(who=[1, 2, 3, 4, 5])
NOTEBOOK = """
import sys, types
shell = types.ModuleType("IPython")
shell.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = shell
import duckdb, sqlaudit
try:
    duckdb.connect(":memory:").execute("SET enable_progress_bar = true")
except duckdb.InvalidInputException as error:
    assert "ipywidgets" in str(error)
else:
    raise SystemExit("DuckDB takes this for no notebook")
print(sqlaudit.profile("people.csv").rows)
"""


def found() -> dict[str, Any]:
    roles = {"qi": "age,sex", "sensitive": "ill"}
    audited = sqlaudit.audit(PEOPLE, **roles, require={"k": 2})
    lattice = sqlaudit.lattice(PEOPLE, qi="age,sex", require={"k": 2}, hierarchies={"age": {"widths": [50]}})
    return {
        "audit": audited,
        "cube": sqlaudit.cube(PEOPLE, dimensions="age,sex", require=["threshold=2"]),
        "columns": sqlaudit.columns(PEOPLE, columns="age,sex"),
        "records": sqlaudit.records(PEOPLE, qi=["age", "sex"]),
        "releases": sqlaudit.releases([NAMED, NAMED], entity="who", qi="age,sex", sensitive="ill"),
        "profile": sqlaudit.profile(PEOPLE),
        "disclosure_curve": sqlaudit.disclosure_curve(PEOPLE, qi=["age"], sensitive="ill"),
        "hierarchy": sqlaudit.hierarchy(PEOPLE, "age", {"widths": [10]}),
        "lattice": lattice,
        "compare": sqlaudit.compare(PEOPLE, PEOPLE, qi="age,sex"),
        "attack": sqlaudit.attack(PEOPLE, qi="age,sex", sensitive="ill"),
        "recode": sqlaudit.recode(PEOPLE, qi="age,sex", require={"k": 2}, hierarchies={"age": {"widths": [50]}}),
        "suppress": sqlaudit.suppress(PEOPLE, qi="age,sex", require={"k": 2}),
        "persons": sqlaudit.persons(PEOPLE, entity="age", qi="sex"),
        "aggregates": sqlaudit.aggregates(
            PEOPLE.groupby(["age", "sex"]).size().reset_index(name="n"),
            by="age,sex",
            count="n",
            require=["threshold=3"],
        ),
    }


def found_elsewhere(folder: Path) -> dict[str, Any]:
    """The results of functions that take no table of people, or more than one."""
    PEOPLE.to_csv(folder / "people.csv", index=False)
    policy = "version: 1\ntables:\n  - {file: people.csv, quasi_identifiers: [age, sex], requirements: [k: 2]}\n"
    (folder / "sqlaudit.yml").write_text(policy, encoding="utf-8")
    moved = pd.DataFrame({"user": [1, 2, 3, 4], "x": [0.0, 1.0, 2.0, 3.0], "y": 0.0, "time": 0})
    boxes = pd.DataFrame({"x_min": [0.0], "x_max": 3.0, "y_min": 0.0, "y_max": 1.0, "t_min": 0, "t_max": 1})
    known = {"people": {"Ann": {"age": 20, "sex": "f"}}, "knowledge": [], "ask": {"Ann": "a"}}
    return {
        "gate": sqlaudit.gate(folder / "sqlaudit.yml"),
        "what_if": sqlaudit.what_if(PEOPLE, qi="age,sex", sensitive="ill", given=known),
        "criteria": sqlaudit.audit(PEOPLE, qi="age,sex", sensitive="ill").by_criteria(),
        "cloak": sqlaudit.cloak(moved, user="user", x="x", y="y", time="time", k=2, box=4, interval=1),
        "audit_boxes": sqlaudit.audit_boxes(boxes, k=2, positions=moved),
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return found() | found_elsewhere(tmp_path_factory.mktemp("results"))


def test_every_public_function_has_its_result_here(results: dict[str, Any]) -> None:
    functions = {name for name in sqlaudit.__all__ if name.islower() and not name.startswith("_")}
    assert functions - {*results} == {"compile_checks"}
    for name, result in results.items():
        assert result.to_html().startswith("<!DOCTYPE html>"), name


def test_compiled_checks_are_a_list_that_prints_short(tmp_path: Path) -> None:
    made = sqlaudit.compile_checks("people", qi="age", checks=["k=5", "km@1=5"], entity="who", dialect="snowflake")
    assert repr(made) == (
        "CompiledChecks: 3 checks as SQL for snowflake\nk=5, km@1=5\nMore: .to_frame(), .save('checks.sql'), [0].sql"
    )
    assert made.to_frame()["model"].tolist() == ["k_anonymity", "k_anonymity", "km_anonymity"]
    made.save(tmp_path / "checks.sql")
    assert made[0].sql in (tmp_path / "checks.sql").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"\.sql or \.txt"):
        made.save(tmp_path / "checks.html")


def test_every_result_is_printed_in_three_lines(results: dict[str, Any]) -> None:
    for name, result in results.items():
        lines = repr(result).splitlines()
        assert 2 <= len(lines) <= 3, name
        assert lines[0].startswith(type(result).__name__ + ": ")
        assert max(map(len, lines)) <= 160
        assert lines[-1] == "More: .to_frame(), .to_dict(), .save('report.html')"
    assert repr(results["audit"]).startswith("AuditResult: FAIL")


def test_every_result_becomes_a_frame_of_its_main_figures(results: dict[str, Any]) -> None:
    frames = {name: result.to_frame() for name, result in results.items()}
    assert {name: len(frame) for name, frame in frames.items() if frame.empty} == {}
    assert list(frames["audit"]["model"])[:1] == ["k_anonymity"]
    assert list(frames["profile"]["name"]) == ["age", "sex", "ill"]
    assert [bool(one) for one in frames["disclosure_curve"]["sensitive"] == "ill"] == [True] * len(
        frames["disclosure_curve"]
    )
    assert frames["lattice"].iloc[0]["age"] == "width 50"


def test_a_result_is_saved_as_what_the_ending_says(results: dict[str, Any], tmp_path: Path) -> None:
    result = results["audit"]
    for ending in ("html", "md", "txt", "json"):
        result.save(tmp_path / f"report.{ending}")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == result.to_html()
    assert result.to_html().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "report.json").read_text())["status"] == "fail"
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# FAIL")
    with pytest.raises(UsageError, match=r"'.docx' is not a report format. Use .txt, .json, .md"):
        result.save(tmp_path / "report.docx")
    assert not (tmp_path / "report.docx").exists()


def test_every_result_says_what_its_frame_holds() -> None:
    kinds = [kind for kind in Shown.__subclasses__() if kind.__module__.startswith("sqlaudit.")]
    assert HierarchyResult in kinds
    for kind in kinds:
        assert hasattr(kind, "frame_of") or "rows_of_frame" in vars(kind), kind


def test_a_notebook_without_widgets_opens_tables(tmp_path: Path) -> None:
    """DuckDB refuses its progress bar there, which no one asked for."""
    (tmp_path / "people.csv").write_text("age\n20\n30\n", encoding="utf-8")
    block = "sys.modules['ipywidgets'] = None\n"
    program = "import sys\n" + block + NOTEBOOK
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "2\n", done.stderr


def test_an_error_in_a_notebook_is_the_users_line_and_the_sentence() -> None:
    with pytest.raises(UsageError) as caught:
        sqlaudit.audit(PEOPLE, qi=["agee"])
    shown = caught.value._render_traceback_()
    assert shown[0].endswith('sqlaudit.audit(PEOPLE, qi=["agee"])')
    assert shown[1].startswith("UnknownColumn: ")
    assert "'agee'" in shown[1]
    assert len(shown) == 2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"qi": 3}, "qi= takes names, as a list of texts or one text such as 'age,sex', not a value of type int."),
        ({"qi": ["age", 3]}, "not a value of type list with a value of type int."),
        ({"qi": {"age": 1}}, "not a value of type dict."),
        ({"entity": ["age"]}, "entity= takes the name of one column, as a text, not a value of type list."),
        ({"joint": "yes"}, "joint= takes True or False, not a value of type str."),
        ({"population_size": "9"}, "population_size= takes a whole number, not a value of type str."),
        (
            {"limits": 3},
            "limits= takes Limits or a mapping of timeout, memory, threads, temp_directory, not a value of type int.",
        ),
        ({"limits": {"tme": 3}}, "limits= has no 'tme'. Did you mean 'timeout'?"),
        ({"read": "csv"}, "read= takes ReadOptions or a mapping of format, delimiter"),
    ],
)
def test_wrong_types_are_told_in_names_of_parameters(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        sqlaudit.audit(PEOPLE, **given)
    assert sentence in str(caught.value)


def test_options_are_taken_as_mappings_and_have_public_names(tmp_path: Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("age;zip\n1;02\n1;02\n", encoding="utf-8")
    read = {"format": "csv", "delimiter": ";", "all_text": True}
    result = sqlaudit.audit(str(file), qi="age,zip", read=read, limits={"threads": 1, "timeout": 60}, require="k=2")
    assert result.passed
    assert result.rows == 2
    same = sqlaudit.ReadOptions(format="csv", delimiter=";", all_text=True)
    assert sqlaudit.audit(str(file), qi="age,zip", read=same, limits=sqlaudit.Limits(threads=1)).rows == 2
    assert sqlaudit.Roles(quasi_identifiers=("age",)).by_role()["quasi-identifier"] == ("age",)


def test_a_text_of_names_is_read_as_on_the_command_line() -> None:
    odd = PEOPLE.rename(columns={"ill": "ill, or not"})
    assert sqlaudit.audit(odd, qi='age, substr(sex, 1, 1), "ill, or not"').roles["quasi_identifiers"] == [
        "age",
        "substr(sex, 1, 1)",
        "ill, or not",
    ]
    assert sqlaudit.audit(odd, qi=["ill, or not"]).classes.count == 2


def test_the_example_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells as plain Python; the browser stage runs it in Jupyter."""
    monkeypatch.chdir(tmp_path)
    cells = json.loads((REPOSITORY / "examples" / "visits.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)
    assert names["result"].classes.min_size < 5
    assert names["lattice"].best.safe
    assert (tmp_path / "visits.html").read_text(encoding="utf-8") == names["result"].to_html()


def test_no_module_hides_behind_a_name_that_looks_callable() -> None:
    with pytest.raises(AttributeError, match="no attribute 'disclosure'"):
        sqlaudit.disclosure  # noqa: B018
