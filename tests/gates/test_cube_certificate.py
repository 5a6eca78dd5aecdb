"""Certificates of cubes: they hold for their file and table, and everything that is changed is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from tests.cli.runner import Ran, run
from tests.reports.schemas import validator

Certificate = dict[str, Any]
PEOPLE = pd.DataFrame(
    {
        "who": [f"p{n}" for n in range(63)],
        "sex": [*["f", "m"] * 30, "x", "x", "x"],
        "age": [20 + n % 40 for n in range(63)],
        "income": [100 + n for n in range(63)],
    }
)
OF_PEOPLE = ("cube", "people.csv", "--dimensions", "sex", "--measures", "income", "--entity", "who")
RULES = ("--require", "threshold=5", "--require", "dominance=n:1,k:80")
SAME_FILE, SAME_TABLE = "SAME: the file is the cube of the certificate", "SAME: the table gives the cube"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    return tmp_path


def certified(*more: str, to: str = "cube.parquet") -> Certificate:
    ran = run(*OF_PEOPLE, *RULES, "--to", to, "--certificate", "cube.json", *more)
    assert ran.code == 0, ran.err
    assert "wrote the certificate to 'cube.json'" in ran.err
    return json.loads(Path("cube.json").read_text("utf-8"))


def test_it_says_rules_dimensions_and_the_file_and_no_value() -> None:
    found = certified("--where", "income < 9999")
    assert found["schema"] == "sqlaudit-cube-certificate/1"
    assert found["request"]["options"] == {"dimensions": ["sex"], "measures": ["income"], "entity": "who"}
    assert found["request"]["require"] == ["threshold=5", "dominance=n:1,k:80"]
    figures = found["figures"]
    assert (figures["threshold"], figures["blocks"], figures["people"], figures["smallest_block"]) == (5, 2, 60, 30)
    rules = {"threshold=5": 1, "dominance=n:1,k:80": 0, "full_cell=any": 0}
    assert figures["rules"] == [{"text": text, "blocks": blocks} for text, blocks in rules.items()]
    assert figures["left_out_people"] is None
    assert found["snapshot"]["version"]["bytes"] == Path("cube.parquet").stat().st_size
    text = Path("cube.json").read_text("utf-8")
    assert [word for word in ("9999", "p42", '"x"') if word in text] == []


@pytest.mark.parametrize("form", ["parquet", "csv", "duckdb", "xlsx", "sav", "dta"])
def test_it_holds_for_each_form(form: str) -> None:
    certified(to=f"cube.{form}")
    ran = run("verify", "cube.json")
    assert (ran.code, ran.out.splitlines()[0]) == (0, SAME_FILE), ran.out
    assert "Only the file was read." in ran.out
    ran = run("verify", "cube.json", "people.csv")
    assert (ran.code, SAME_TABLE in ran.out, "Only the file" in ran.out) == (0, True, False), ran.out


def test_it_is_told_as_data() -> None:
    certified()
    data = json.loads(run("verify", "cube.json", "--format", "json").out)
    assert [error.message for error in validator("verify").iter_errors(data)] == []
    assert (data["status"], data["target"]["rows"], data["certified"]["required"]) == ("pass", 2, 2)
    Path("copies").mkdir()
    Path("cube.parquet").rename("copies/other name.parquet")
    assert "There is no file 'cube.parquet'. Name the cube with --cube." in run("verify", "cube.json").err
    assert run("verify", "cube.json", "--cube", "copies/other name.parquet").code == 0


@pytest.mark.parametrize("form", ["parquet", "csv", "duckdb"])
def test_a_changed_file_and_another_file_are_found(form: str) -> None:
    file = Path(f"cube.{form}")
    certified(to=file.name)
    content = file.read_bytes()
    for changed in (content + b"\n", content[:-1], content.replace(b"f", b"g", 1), b""):
        file.write_bytes(changed)
        for table in ((), ("people.csv",)):
            ran = run("verify", "cube.json", *table)
            assert (ran.code, ran.out.splitlines()[0]) == (
                1,
                "DIFFERS: 1 difference between the cube and the certificate",
            )
            assert "The file has changed since the certificate was made." in ran.out
    file.unlink()
    assert run(*OF_PEOPLE, "--require", "threshold=3", "--to", file.name).code == 0
    assert run("verify", "cube.json").code == 1
    assert run("verify", "cube.json", "--cube", "people.csv").code == 1


def edited(change: Callable[[Certificate], object], *more: str) -> Ran:
    found = json.loads(Path("cube.json").read_text("utf-8"))
    change(found)
    Path("edited.json").write_text(json.dumps(found), encoding="utf-8")
    return run("verify", "edited.json", *more)


def other_threshold(found: Certificate, least: int) -> None:
    """Change a threshold wherever the certificate says it."""
    found["request"]["require"][0] = found["figures"]["rules"][0]["text"] = f"threshold={least}"
    found["figures"]["threshold"] = least


def one_rule_less(found: Certificate) -> None:
    del found["request"]["require"][0], found["figures"]["rules"][0]
    found["request"]["require"].append("threshold=2")
    found["figures"]["rules"].insert(1, {"text": "threshold=2", "blocks": 0})
    found["figures"]["threshold"] = 2


EDITS: dict[str, tuple[Callable[[Certificate], object], bool]] = {
    "a rule of the request": (lambda c: c["request"]["require"].__setitem__(0, "threshold=4"), True),
    "a rule of the figures": (lambda c: c["figures"]["rules"][0].update(text="threshold=30"), True),
    "the threshold of the figures": (lambda c: c["figures"].update(threshold=30), True),
    "all thresholds, larger than a block": (lambda c: other_threshold(c, 31), True),
    "all thresholds, smaller": (lambda c: other_threshold(c, 3), False),
    "all of a rule": (one_rule_less, False),
    "blocks where everyone has the same": (lambda c: c["request"]["options"].update(uniform="keep"), True),
    "known contributors": (lambda c: c["figures"].update(known_contributors=1), True),
    "blocks left out": (lambda c: c["figures"]["rules"][0].update(blocks=0), False),
    "nobody left out": (lambda c: c["figures"].update(left_out_blocks=0), False),
    "blocks": (lambda c: c["figures"].update(blocks=3), True),
    "people": (lambda c: c["figures"].update(people=61), True),
    "rows": (lambda c: c["figures"].update(rows=61), True),
    "columns": (lambda c: c["figures"]["columns"].pop(), True),
    "the smallest block": (lambda c: c["figures"].update(smallest_block=31), True),
    "measures": (lambda c: c["request"]["options"].update(measures=["age"]), True),
    "dimensions": (lambda c: c["figures"]["dimensions"][0].update(level="10 years"), False),
    "the file's digest": (lambda c: c["snapshot"]["version"].update(sha256="0" * 64), True),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_certificate_is_found(what: str) -> None:
    """Without the table, a rule that the file meets may have been any other: only a signature shows whose it is."""
    certified()
    change, is_found_in_file = EDITS[what]
    ran = edited(change)
    assert ran.code == (1 if is_found_in_file else 0), ran.out
    assert is_found_in_file or "Only the file was read." in ran.out
    assert edited(change, "people.csv").code == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.pop("request"),
        lambda c: c["request"].pop("options"),
        lambda c: c["request"]["options"].update(to="stolen.csv"),
        lambda c: c["request"]["options"].update(dimensions={"a": 1}),
        lambda c: c["request"].update(require=[1]),
        lambda c: c["request"].update(require=["k=5"]),
        lambda c: c["request"].update(require=[]),
        lambda c: c["request"].update(require=["threshold=5"] * 101),
        lambda c: c["snapshot"].update(name="../people.csv"),
        lambda c: c["snapshot"].update(name="/etc/passwd"),
        lambda c: c["snapshot"].pop("name"),
        lambda c: c.update(figures=[]),
        lambda c: c.update(time=None),
        lambda c: c.update(signature="mine"),
        lambda c: c.update(schema="sqlaudit-cube-certificate/2"),
    ],
)
def test_what_is_no_certificate_is_refused(change: Callable[[Certificate], object]) -> None:
    certified()
    ran = edited(change)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert "internal error" not in ran.err
    assert not Path("stolen.csv").exists()


def test_figures_of_any_type_are_differences() -> None:
    certified()
    for name in json.loads(Path("cube.json").read_text("utf-8"))["figures"]:
        for value in (None, [], {}, "x", -1, [1], [[[]]]):
            ran = edited(lambda found, name=name, value=value: found["figures"].update({name: value}), "people.csv")
            if (name, value) != ("left_out_people", None):
                assert ran.code == 1, (name, value, ran.err)


def test_sql_of_a_stranger_is_not_run() -> None:
    certified()
    for part, sql in (("dimensions", "md5(sex)"), ("measures", "sqrt(income)"), ("entity", "getenv('HOME')")):

        def change(found: Certificate, part: str = part, sql: str = sql) -> None:
            found["request"]["options"][part] = sql if part == "entity" else [sql]

        ran = edited(change, "people.csv")
        assert (ran.code, "It was not run." in ran.err) == (2, True), ran.said
    asked = ("cube", "people.csv", "--dimensions", "md5(sex)", *RULES[:2], "--to", "m.csv")
    assert run(*asked, "--certificate", "m.json").code == 0
    assert run("verify", "m.json", "people.csv").code == 2
    assert run("verify", "m.json", "people.csv", "--trust-expressions").code == 0


def test_a_changed_table_is_found() -> None:
    certified("--where", "income > 0", "--suppress", "50%")
    assert "Give the same text with --where" in run("verify", "cube.json", "people.csv").err
    again = ("verify", "cube.json", "people.csv", "--where")
    assert run(*again, "income > 0").code == 0
    assert run(*again, "income > -1").code == 1
    PEOPLE.assign(income=[*PEOPLE.income[1:], 7]).to_csv("people.csv", index=False)
    ran = run(*again, "income > 0")
    assert (ran.code, "Blocks that differ" in ran.out) == (1, True), ran.out
    PEOPLE.head(4).to_csv("people.csv", index=False)
    assert run(*again, "income > 0").code == 1
    PEOPLE.drop(columns="sex").to_csv("people.csv", index=False)
    assert run(*again, "income > 0").code == 2


def test_signatures() -> None:
    certified("--certificate-key", "officer.pem", "--new-key")
    assert Path("officer.pem").stat().st_mode & 0o777 == 0o600
    ran = run("verify", "cube.json", "--key", "officer.pub.pem")
    assert (ran.code, "signed by the key that you named" in " ".join(ran.out.split())) == (0, True)
    assert edited(lambda found: other_threshold(found, 3), "--key", "officer.pub.pem").code == 1
    assert edited(lambda found: found.pop("signature"), "--key", "officer.pub.pem").code == 1
    assert edited(lambda found: other_threshold(found, 3)).code == 1
    made = ("--certificate-key", "other.pem", "--new-key")
    assert run(*OF_PEOPLE, *RULES, "--to", "cube.parquet", "--certificate", "other.json", *made).code == 0
    assert run("verify", "other.json", "--key", "officer.pub.pem").code == 1


def test_hierarchies_and_levels() -> None:
    Path("levels.yml").write_text("hierarchies: {age: {widths: [10, 20]}}", encoding="utf-8")
    asked = ("cube", "people.csv", "--dimensions", "age=width 20,sex", "--hierarchies", "levels.yml", *RULES[:2])
    ran = run(*asked, "--to", "cube.csv", "--certificate", "cube.json")
    assert ran.code == 0, ran.err
    assert run("verify", "cube.json").code == 0
    assert "add --hierarchies" in run("verify", "cube.json", "people.csv").err
    assert run("verify", "cube.json", "people.csv", "--hierarchies", "levels.yml").code == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "Name one with --to cube.parquet"),
        (("--to", "cube.sql"), "Name one with --to cube.parquet"),
        (("--to", "table:main.cube"), "Name one with --to cube.parquet"),
        (("--publish-view", "cube"), "Name one with --to cube.parquet"),
        (("--to", "cube.csv", "--certificate", "no/cube.json"), "does not exist"),
        (("--to", "cube.csv", "--certificate", "cube.txt"), "must end in .json"),
        (("--to", "cube.csv", "--certificate-key", "no.pem"), "no.pem"),
    ],
)
def test_what_gets_no_certificate(more: tuple[str, ...], said: str) -> None:
    certificate = () if "--certificate" in more else ("--certificate", "cube.json")
    ran = run(*OF_PEOPLE, *RULES, *more, *certificate)
    assert (ran.code, ran.out) == (2, ""), ran.said
    assert said in ran.err
    assert {path.name for path in Path().iterdir()} == {"people.csv"}


def test_a_cube_that_is_not_made_has_none() -> None:
    ran = run(*OF_PEOPLE, "--require", "threshold=61", "--to", "cube.csv", "--certificate", "cube.json")
    assert (ran.code, Path("cube.csv").exists(), Path("cube.json").exists()) == (1, False, False)
    certified()
    for option in (("--inputs", "x.yml"), ("--db", "nowhere.duckdb")):
        assert run("verify", "cube.json", *option).code in (2, 3)
    audit = ("audit", "people.csv", "--qi", "sex", "--certificate", "a.json")
    assert run(*audit).code == 0
    assert "--cube and --hierarchies are for the certificate of a cube" in run("verify", "a.json", "--cube", "a").err


def test_a_table_of_a_database() -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("CREATE TABLE people AS FROM 'people.csv'")
    asked = ("cube", "people", "--db", "clinic.duckdb", *OF_PEOPLE[2:], *RULES)
    assert run(*asked, "--to", "cube.duckdb", "--certificate", "cube.json").code == 0
    assert run("verify", "cube.json").code == 0
    assert run("verify", "cube.json", "--db", "clinic.duckdb").code == 0
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute("UPDATE people SET income = income + 1 WHERE who = 'p1'")
    assert run("verify", "cube.json", "--db", "clinic.duckdb").code == 1
