"""Published rules: the file is sound, quotes what it may, and says the same to audits, cells, criteria and policies."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

import sqlaudit
from sqlaudit.audits.criteria.criteria import criteria_of
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import SafeHarbor
from sqlaudit.gates.reading import load_policy
from sqlaudit.gates.schema import policy_schema
from sqlaudit.models.presets import ALWAYS, Preset, find_preset, of_cells, of_rows, presets
from tests.cli.runner import run, write_csv
from tests.reports.schemas import validator

HARBOR = SafeHarbor.preset
EVERY = list(presets().values())
ELEVEN = ("age,s", *["30,a"] * 11, *["31,b"] * 20)


@pytest.mark.parametrize("preset", EVERY, ids=[one.name for one in EVERY])
def test_every_preset_is_sound(preset: Preset) -> None:
    assert preset.title
    assert preset.clause
    assert preset.source
    assert re.fullmatch(r"[12][0-9]{3}(-[01][0-9](-[0-3][0-9])?)?", preset.date)
    assert bool(preset.quotation) != bool(preset.unquoted)  # the words, or why there are none
    assert preset.audit or preset.aggregates or preset.sections
    limits = of_rows([preset.name]) if preset.audit else ()
    limits += of_cells([preset.name]) if preset.aggregates else ()
    assert {one.preset for one in limits} <= {preset.name}
    nothing = sqlaudit.audit(query="SELECT 1 AS a", qi="a")
    criteria_of(nothing, presets=[preset.name])  # every figure that a section names is there


def test_names_of_sections_are_different() -> None:
    names = [section.name for preset in EVERY for section in preset.sections]
    assert len(names) == len({*names})
    assert {*ALWAYS, HARBOR} < presets().keys()


@pytest.mark.parametrize("name", ["ema-0070", "hipaa-expert", "health-canada-prci"])
def test_a_risk_of_one_in_eleven_is_the_threshold_of_009(tmp_path: Path, name: str) -> None:
    """0.09 is 1/11, rounded: classes of 11 pass the preset as they pass the criteria, and classes of 10 fail both."""
    criterion = name.replace("-", "_")
    for rows, held in ((11, "yes"), (10, "no")):
        file = write_csv(tmp_path / "t.csv", *ELEVEN[:1], *ELEVEN[12 - rows :])
        result = sqlaudit.audit(file, qi="age", preset=name)
        (criteria,) = (one for one in result.by_criteria(presets=[name]).criteria if one.name == criterion)
        told = {one.name: one.text for one in criteria.figures}
        assert result.passed is (held == "yes")
        assert told.get("every group has at least 11 rows (risk at most 1/11)", held) == held
        small = told.get("rows in groups smaller than 11", "0 (0%)" if held == "yes" else None)
        assert small in (None, "0 (0%)" if held == "yes" else "10 (33.3%)")
        assert run("audit", file, "--qi", "age", "--preset", name).code == (0 if held == "yes" else 1)
    assert find_preset(name).size == 11


def test_an_audit_says_which_preset(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", *ELEVEN)
    asked = ("audit", file, "--qi", "age", "--require", "k=2", "--preset", "cells-11")
    assert (
        "Published rules cells-11: CMS cell size suppression policy, minimum cell size (2024-01-26)" in run(*asked).said
    )
    data = json.loads(run(*asked, "--format", "json").out)
    assert [error.message for error in validator("audit").iter_errors(data)] == []
    assert [(one["required"], one.get("preset")) for one in data["checks"]] == [(11, "cells-11"), (2, None)]


CELLS = ("region,n,sum,first,second", "a,11,100,40,30", "b,10,100,60,35", "c,0,0,0,0")


@pytest.mark.parametrize(
    ("name", "unsafe"),
    [
        ("cells-11", {"threshold=11": 1}),  # b has 10 contributors; a cell of zero does not violate the policy
        ("cells-10", {"threshold=10": 0}),
        # b: 95 of 100 from the two largest, and 5 is less than a tenth of 60; in ACRO no contributor is too few
        ("acro", {"threshold=n:10,zeros:yes": 1, "p_percent=10": 1, "dominance=n:2,k:90": 1}),
    ],
)
def test_rules_for_cells(tmp_path: Path, name: str, unsafe: dict[str, int]) -> None:
    file = write_csv(tmp_path / "cells.csv", *CELLS)
    columns = ("--by", "region", "--count", "n", "--value", "sum", "--largest", "first,second")
    ran = run("aggregates", file, *columns, "--preset", name, "--format", "json")
    data = json.loads(ran.out)
    assert [error.message for error in validator("aggregates").iter_errors(data)] == []
    rules = data["aggregates"]["unsafe"]
    assert {one["text"]: one["cells"] for one in rules} == unsafe
    assert {one["preset"] for one in rules} == {name}
    assert ran.code == (1 if any(unsafe.values()) else 0)
    found = sqlaudit.aggregates(
        file, by="region", count="n", value="sum", largest=["first", "second"], preset=name, require="threshold=3"
    )
    assert {one.text: one.cells for one in found.rules} == {**unsafe, "threshold=3": 0}
    said = run("aggregates", file, *columns, "--preset", name).said
    assert find_preset(name).line.partition(",")[0] in said


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        ("audit", "acro", "acro sets no limit on groups of rows. Use it in `sqlaudit aggregates`."),
        ("audit", "iso-27559", "`sqlaudit audit --criteria internal` with this preset reports its clauses."),
        ("aggregates", "ema-0070", "ema-0070 sets no limit on cells. Use it in `sqlaudit audit`."),
        ("aggregates", "cels-11", "There is no preset 'cels-11'. Did you mean 'cells-11'?"),
        ("suppress", "nist-800-188", "sets no limit. `sqlaudit audit --criteria"),
    ],
)
def test_a_preset_never_checks_nothing(tmp_path: Path, command: str, name: str, said: str) -> None:
    file = write_csv(tmp_path / "t.csv", *ELEVEN)
    columns = ("--by", "age", "--count", "s") if command == "aggregates" else ("--qi", "age")
    ran = run(command, file, *columns, "--preset", name)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_sections_by_clause(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "t.csv", *ELEVEN)
    names = ("iso-27559", "nist-800-188", "ehds", "health-canada-prci")
    asked = ("audit", file, "--qi", "age", "--sensitive", "s", *(word for one in names for word in ("--preset", one)))
    ran = run(*asked, "--criteria", "internal", "--format", "json")
    data = json.loads(ran.out)
    assert ran.code == 0  # health-canada-prci is required, and met
    assert [error.message for error in validator("criteria").iter_errors(data)] == []
    sections = {one["name"]: one for one in data["criteria"]}
    assert list(sections)[:5] == ["singling_out", "linkability", "inference", "hipaa_expert", "ema_0070"]
    assert [name for name in sections if name.startswith("iso")] == [f"iso_27559_{clause}" for clause in range(6, 10)]
    nothing = [{"name": "figures", "text": "not checked (the table cannot answer this)"}]
    assert sections["iso_27559_9"]["figures"] == sections["nist_800_188_3"]["figures"] == nothing
    assert not any("quotation" in one for name, one in sections.items() if not name.startswith("ehds"))
    assert sections["ehds_66"]["quotation"].startswith("Health data access bodies shall provide electronic health data")
    assert sections["ehds_66"]["source"].endswith("Article 66, 2025-02-11")
    assert all(one["open"] for one in sections.values())
    assert "“Only non-personal electronic health data" in run(*asked, "--criteria", "public").said


POLICY = """version: 1
tables:
  - file: t.csv
    quasi_identifiers: [age]
    requirements:
      - preset: {preset}
      - {more}
"""


def policy(folder: Path, preset: str, more: str = "k=1") -> list[str]:
    (folder / "p.yml").write_text(POLICY.replace("{preset}", preset).replace("{more}", more), encoding="utf-8")
    (table,) = load_policy(folder / "p.yml").tables
    return [test.mistake or test.requirement for test in table.tests]


def test_presets_in_a_policy(tmp_path: Path) -> None:
    assert policy(tmp_path, "health-canada-prci") == ["prosecutor_risk=1/11", "k=1"]
    assert policy(tmp_path, HARBOR) == ["safe_harbor", "k=1"]
    cells = "aggregates: {by: [age], count: s, require: threshold=10, preset: [cells-11, cells-10]}"
    assert policy(tmp_path, "cells-5", cells) == [
        "k=5",
        "aggregates=threshold=10,by:age,count:s",
        "aggregates=threshold=11,by:age,count:s",
    ]
    assert "`sqlaudit audit --criteria internal`" in policy(tmp_path, "ehds")[0]
    assert "Did you mean 'ema-0070'?" in policy(tmp_path, "ema-070")[0]
    assert (
        "sets no limit on cells"
        in policy(tmp_path, "cells-5", "aggregates: {by: [age], count: s, preset: ema-0070}")[1]
    )
    assert "needs 'require' or 'preset'" in policy(tmp_path, "cells-5", "aggregates: {by: [age], count: s}")[1]
    known = policy_schema()["$defs"]["requirement"]["properties"]["preset"]["enum"]
    assert HARBOR in known
    assert not {"acro", "ehds"} & {*known}


def test_a_policy_is_tested_and_says_which_preset(tmp_path: Path) -> None:
    write_csv(tmp_path / "t.csv", "age,zip,name,day", *["30,02139,Ann Lee,2020-05-01"] * 11)
    write_csv(tmp_path / "zips.csv", "area", "021")
    policy(tmp_path, HARBOR, "safe_harbor: {zip_areas: zips.csv, reviewed: [name, day, zip]}")
    ran = run("test", "-f", tmp_path / "p.yml", "--format", "json")
    data = json.loads(ran.out)
    assert [error.message for error in validator("gate").iter_errors(data)] == []
    found = {one["requirement"]: (one["outcome"], one["check"]["preset"]) for one in data["tests"]}
    assert found == {
        "safe_harbor": ("fail", HARBOR),
        "safe_harbor=zip_areas:zips.csv,reviewed:name+day+zip": ("pass", HARBOR),
    }
    said = run("test", "-f", tmp_path / "p.yml").said
    assert "FAILS: Identifiers: (A) name; (B) zip; (C) day." in said
    assert find_preset(HARBOR).line.partition(" (")[0] in said
    assert not {"02139", "2020-05-01", "Ann Lee"} & {*re.split(r"[ ,;]", said)}
    for more, wrong in (
        ("{zip_areas: none.csv}", "zip_areas: there is no file"),
        ("{reviewed: [nam]}", "reviewed: t.csv has no column 'nam'. Did you mean 'name'?"),
        ("{zip_area: zips.csv}", "safe_harbor has no key 'zip_area'. Did you mean 'zip_areas'?"),
    ):
        policy(tmp_path, HARBOR, f"safe_harbor: {more}")
        ran = run("test", "-f", tmp_path / "p.yml")
        assert (ran.code, wrong in ran.said.replace("--", "")) == (2, True)


def test_presets_are_listed() -> None:
    data = json.loads(run("models", "--presets", "--format", "json").out)
    assert [error.message for error in validator("models").iter_errors(data)] == []
    assert [one["name"] for one in data["presets"]] == list(presets())
    (one,) = json.loads(run("models", "--presets", "acro", "--format", "json").out)["presets"]
    assert one["limits"] == {"audit": [], "aggregates": list(find_preset("acro").aggregates)}
    said = run("models", "--presets").said
    assert "Quotation Not quoted. The standard is behind a paywall" in said
    assert "(A) Names; (B) Geographic subdivisions smaller than a state" in said
    ran = run("models", "--presets", "ema-007")
    assert (ran.code, "Did you mean 'ema-0070'?" in ran.err) == (2, True)
    with pytest.raises(UsageError, match="Available: wp216"):
        find_preset("x")


@pytest.mark.parametrize("names", ["", [""]])
def test_an_empty_preset_is_refused_and_not_left_out(names: str | list[str]) -> None:
    with pytest.raises(UsageError, match="There is no preset ''"):
        sqlaudit.audit(query="SELECT 1 AS age", qi="age", require="k=1", preset=names)
    with pytest.raises(UsageError, match="There is no preset ''"):
        sqlaudit.aggregates(query="SELECT 1 AS a, 9 AS n", by="a", count="n", require="threshold=1", preset=names)


def test_presets_may_come_from_a_generator_or_an_array() -> None:
    people: dict[str, Any] = {"query": "SELECT 30 AS age, 'Ann Lee' AS name", "qi": "age", "require": "k=1"}
    listed = sqlaudit.audit(**people, preset=[HARBOR])
    assert not listed.passed
    harbor: list[Any] = [(name for name in [HARBOR]), numpy.array([HARBOR])]
    for names in harbor:
        assert sqlaudit.audit(**people, preset=names).to_dict()["checks"] == listed.to_dict()["checks"]
    cells: dict[str, Any] = {"query": "SELECT 1 AS a, 4 AS n", "by": "a", "count": "n", "require": "threshold=1"}
    rules: list[Any] = [(name for name in ["cells-3", "cells-5"]), numpy.array(["cells-3", "cells-5"])]
    for names in rules:
        assert not sqlaudit.aggregates(**cells, preset=names).passed
