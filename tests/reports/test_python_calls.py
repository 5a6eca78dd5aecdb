"""The page of a call in Python repeats it and proposes further ones, which run; nothing confidential is in them."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.reports.formats import laid_out
from sqlaudit.reports.notebook import document_of, framed
from tests.reports.test_python_results import NAMED, PEOPLE, found, found_elsewhere

SECRET = "Zarathustra"
PROFILED = pd.DataFrame(
    {
        "birth": pd.date_range("1950-01-01", periods=60, freq="97D"),
        "sex, or gender": ["m", "f"] * 30,
        "ill": ["flu", "gout", "gout"] * 20,
        "patient_id": [number // 2 for number in range(60)],
    }
)


def _calls(page: str) -> list[str]:
    """The calls that a page has to be copied."""
    texts = (re.sub("<[^>]*>", "", text) for text in re.findall(r"<pre class=\"command\".*?</pre>", page, re.DOTALL))
    return [html.unescape(text) for text in texts if text.startswith("sqlaudit.")]


def _run(call: str, **variables: Any) -> Any:
    """Run a call; the variables are those of its author."""
    return eval(call, {"sqlaudit": sqlaudit, **variables})


def _figures(value: Any) -> Any:
    """The JSON of a result without what differs from run to run."""
    if isinstance(value, dict):
        return {key: _figures(one) for key, one in value.items() if key not in ("time", "statements", "seconds")}
    return [_figures(one) for one in value] if isinstance(value, list) else value


def test_every_result_has_the_call_that_gives_it_again(tmp_path: Path) -> None:
    shown = {name: result for name, result in (found() | found_elsewhere(tmp_path)).items() if name != "what_if"}
    cells = PEOPLE.groupby(["age", "sex"]).size().reset_index(name="n")
    moved = pd.DataFrame({"user": [1, 2, 3, 4], "x": [0.0, 1.0, 2.0, 3.0], "y": 0.0, "time": 0})
    boxes = pd.DataFrame({"x_min": [0.0], "x_max": 3.0, "y_min": 0.0, "y_max": 1.0, "t_min": 0, "t_max": 1})
    tables = {"aggregates": cells, "cloak": moved, "audit_boxes": boxes}
    for name, result in shown.items():
        (call, *proposed) = _calls(result.to_html())
        assert call in html.unescape(re.sub("<[^>]*>", "", html.unescape(framed(result)))), name
        frame = tables.get(name, PEOPLE)
        variables = {"frame": frame, "original": frame, "release": frame, "release_1": NAMED, "release_2": NAMED}
        again = _run(call, **variables, positions=moved)
        assert _figures(again.to_dict()) == _figures(result.to_dict()), name
        for other in proposed:
            _run(other, **variables)


def test_a_profile_of_a_frame_proposes_python_that_audits_it(tmp_path: Path) -> None:
    result = sqlaudit.profile(PROFILED, name="the patients")
    text = laid_out(document_of(result), "text")
    (proposed,) = re.findall(r"sqlaudit\.audit\(.*\)", text)
    assert proposed in _calls(result.to_html())
    assert proposed.startswith("sqlaudit.audit(frame, name='the patients', qi=['birth', 'sex, or gender']")
    assert "sqlaudit columns" not in text
    audited = _run(proposed, frame=PROFILED)
    assert audited.target == "the patients"
    assert audited.roles["quasi_identifiers"] == list(result.likely)
    assert audited.roles["entity"] == "patient_id"


def test_a_file_is_read_as_the_call_read_it(tmp_path: Path) -> None:
    file = tmp_path / "people 1.csv"
    file.write_text("a title\n" + PROFILED.to_csv(index=False, sep=";"), encoding="utf-8")
    result = sqlaudit.profile(file, read={"skip": 1, "delimiter": ";"}, where="true", limits={"threads": 1})
    first, *proposed = _calls(result.to_html())
    assert "where=…" in first
    for call in proposed:
        assert _run(call.replace("…", "'true'")).target == str(file)


@pytest.mark.parametrize(
    "given",
    [
        {"where": f"ill <> '{SECRET}'"},
        {"inputs": {"categories": {"ill": {"bad": [SECRET]}}}},
        {"hierarchies": {"sex": {"values": {"f": [SECRET], "m": [SECRET]}}}},
        {"db": f"postgresql://me:{SECRET}@localhost/x"},
        {"to": f"/{SECRET}.csv"},
        {"title": SECRET},
        {"target": f"postgresql://me:{SECRET}@localhost/x"},
        {"query": f"SELECT '{SECRET}'"},
        {"require": pd.DataFrame({"k": [SECRET]}).iterrows},
    ],
    ids=str,
)
def test_nothing_confidential_is_in_a_call(given: dict[str, Any]) -> None:
    from sqlaudit.base.python_call import call_of

    options = sqlaudit.audit.options() | sqlaudit.lattice.options()  # type: ignore[attr-defined]
    assert SECRET not in str(call_of("audit", {"qi": ("age",), **given}, options))


def test_frames_are_called_what_they_are() -> None:
    assert sqlaudit.audit(PEOPLE, qi="age").target == "frame"
    assert sqlaudit.audit(PEOPLE, qi="age", name="<b>&").target == "<b>&"
    assert "<b>&" not in sqlaudit.audit(PEOPLE, qi="age", name="<b>&").to_html()
    compared = sqlaudit.compare(PEOPLE, PEOPLE, qi="age,sex", name={"original": "all"})
    assert (compared.original, compared.release) == ("all", "release")
    assert sqlaudit.compare(PEOPLE, PEOPLE, qi="age,sex", name="public").release == "public"
    series = sqlaudit.releases([NAMED, NAMED], entity="who", qi="age", sensitive="ill", names=["May", "June"])
    assert series.target == "May and June"


@pytest.mark.parametrize("name", [3, {"target": 3}, {"nobody": "x"}, ["x"]])
def test_a_name_that_names_no_table_is_refused(name: object) -> None:
    with pytest.raises(UsageError, match=r"name= takes a text, or texts by parameter"):
        sqlaudit.audit(PEOPLE, qi="age", name=name)


def test_a_file_has_its_own_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="A table or file is called by its own name"):
        sqlaudit.audit(tmp_path / "p.csv", qi="age", name="x")
    with pytest.raises(UsageError, match="1 names for 2 releases"):
        sqlaudit.releases([NAMED, NAMED], entity="who", qi="age", sensitive="ill", names=["May"])


def test_a_page_about_frames_mentions_no_files() -> None:
    assert "named files" not in sqlaudit.audit(PEOPLE, qi="age").to_html()
