"""Certificates from the command line: they hold, and what is done to them is found. Attacks are here, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.cli.runner import Ran, patients, run, write_csv
from tests.reports.schemas import validator

Certificate = dict[str, Any]
SPECIAL = "Atlantis"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    patients(tmp_path)


KEPT: dict[tuple[str, ...], str] = {}
"""Certificates of `patients.csv` as it is for every test, by what more was asked for."""
OFTEN = ((), ("--require", "k=3"))


def certified(*more: str, table: str = "patients.csv", qi: str = "age,sex") -> Certificate:
    often = more in OFTEN and (table, qi) == ("patients.csv", "age,sex")
    if often and more in KEPT:
        Path("a.json").write_text(KEPT[more], encoding="utf-8")
        return json.loads(KEPT[more])
    ran = run("audit", table, "--qi", qi, "--sensitive", "disease", "--certificate", "a.json", *more)
    assert ran.code in (0, 1), ran.err
    text = Path("a.json").read_text("utf-8")
    if often:
        KEPT[more] = text
    return json.loads(text)


def edited(change: Callable[[Certificate], object]) -> Ran:
    """The certificate, changed by somebody, verified."""
    found = json.loads(Path("a.json").read_text("utf-8"))
    change(found)
    Path("a.json").write_text(json.dumps(found), encoding="utf-8")
    return run("verify", "a.json")


def key_pair(name: str, secret: bytes | None = None) -> None:
    """The two files that openssl would make: NAME.pem and NAME.pub.pem."""
    key = Ed25519PrivateKey.generate()
    how = serialization.BestAvailableEncryption(secret) if secret else serialization.NoEncryption()
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    Path(f"{name}.pem").write_bytes(key.private_bytes(pem, pkcs8, how))
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    Path(f"{name}.pub.pem").write_bytes(key.public_key().public_bytes(pem, spki))


def test_a_certificate_holds_and_has_no_value() -> None:
    rows = [f"{SPECIAL},{n % 2},flu{n % 3}" for n in range(9)]
    write_csv(Path("t.csv"), "town,sex,disease", *rows)
    found = certified(
        "--require", "k=4", "--show-values", "--where", "town <> 'Elsewhere'", table="t.csv", qi="town,sex"
    )
    text = Path("a.json").read_text("utf-8")
    assert [word for word in (SPECIAL, "flu0", "Elsewhere") if word in text] == []
    assert [error.message for error in validator("certificate").iter_errors(found)] == []
    assert (found["snapshot"]["rows"], found["snapshot"]["combinations"]) == (9, 6)
    assert found["command"] == "sqlaudit audit t.csv --qi town,sex --sensitive disease --where … --require k=4"
    without = run("verify", "a.json")
    assert (without.code, "Give the same text with --where" in without.err) == (2, True)
    ran = run("verify", "a.json", "--where", "town <> 'Elsewhere'")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "SAME: the table matches the certificate")
    other = run("verify", "a.json", "--where", "town = 'Elsewhere' OR TRUE")
    assert (other.code, "Where another text" in other.said) == (1, True)


def test_what_is_verified_is_told_as_data() -> None:
    certified("--require", "k=3")
    data = json.loads(run("verify", "a.json", "--format", "json").out)
    assert [error.message for error in validator("verify").iter_errors(data)] == []
    assert (data["status"], data["differences"], data["certified"]["status"]) == ("pass", [], "fail")
    assert data["signature"] == {"state": "none", "key": "", "trusted": False}


def test_edited_figures_are_found() -> None:
    certified("--require", "k=3")

    def better(found: Certificate) -> None:
        found["figures"]["status"] = "pass"
        found["figures"]["checks"][0] |= {"level": 3, "status": "pass"}

    ran = edited(better)
    assert (ran.code, ran.out.splitlines()[0]) == (1, "DIFFERS: 3 differences between the table and the certificate")
    assert "k-anonymity: level 3 1" in ran.said


def test_a_figure_that_is_only_left_out_is_found() -> None:
    certified("--require", "k=3")
    ran = edited(lambda found: found["figures"]["checks"].clear())
    assert (ran.code, "k-anonymity: level 1" in ran.said) == (1, True)


def test_one_row_that_changed_is_found_though_no_figure_moved() -> None:
    certified()
    file = Path("patients.csv")
    file.write_text(file.read_text("utf-8").replace("40,M,ulcer", "50,M,ulcer"), encoding="utf-8")
    ran = run("verify", "a.json")
    assert ran.code == 1
    assert "Snapshot: checksum" in ran.said
    assert "figures: " not in ran.said


def test_rows_in_another_order_are_another_file_and_the_same_table() -> None:
    certified()
    head, *rows = Path("patients.csv").read_text("utf-8").splitlines()
    write_csv(Path("patients.csv"), head, *rows[::-1])
    ran = run("verify", "a.json")
    assert (ran.code, "DIFFERS: 1 difference" in ran.out, "snapshot" in ran.said) == (1, True, False)
    assert "The file has changed since the certificate was made." in ran.said


def test_lines_above_the_header_and_decimal_commas_are_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("sep=;\nage;weight\n30;71,5\n31;80,25\n", encoding="utf-8")
    options = ("--qi", "weight", "--skip", 1, "--decimal", ",", "--certificate", "skip.json")
    assert run("audit", file, *options).code == 0
    assert run("verify", "skip.json").code == 0
    found = json.loads(Path("skip.json").read_text("utf-8"))
    assert found["request"]["read"] == {"skip": 1, "decimal": ","}


def test_signatures_of_the_key_that_is_trusted_and_of_others() -> None:
    key_pair("officer")
    key_pair("other")
    found = certified("--require", "k=3", "--certificate-key", "officer.pem")
    good = run("verify", "a.json", "--key", "officer.pub.pem")
    assert (good.code, "The certificate is signed by the key that you named." in good.said) == (0, True)
    assert "signed with an unknown key" in run("verify", "a.json").said
    other = run("verify", "a.json", "--key", "other.pub.pem")
    assert (other.code, "not one of this text by the key that you named" in other.said) == (1, True)
    del found["signature"]
    Path("a.json").write_text(json.dumps(found), encoding="utf-8")
    bare = run("verify", "a.json", "--key", "officer.pub.pem")
    assert (bare.code, "one was asked for" in bare.said) == (1, True)


def test_a_signed_text_that_was_changed_is_found_though_its_figures_are_true() -> None:
    key_pair("officer")
    certified("--certificate-key", "officer.pem")
    ran = edited(lambda found: found.update(time="2020-01-01T00:00:00+00:00"))
    assert (ran.code, "Signature a signature not one of this text" in ran.said) == (1, True)
    data = json.loads(run("verify", "a.json", "--format", "json").out)
    assert data["signature"] == {"state": "invalid", "key": "", "trusted": False}


def test_a_key_with_a_passphrase() -> None:
    key_pair("officer", b"horse")
    audit = ("audit", "patients.csv", "--qi", "age", "--certificate", "a.json", "--certificate-key", "officer.pem")
    refused = run(*audit)
    assert (refused.code, "Put its passphrase into SQLAUDIT_KEY_PASSPHRASE" in refused.err) == (2, True)
    assert not Path("a.json").exists()
    assert run(*audit, env={"SQLAUDIT_KEY_PASSPHRASE": "horse"}).code == 0
    assert run("verify", "a.json", "--key", "officer.pub.pem").code == 0
    wrong = run(*audit, env={"SQLAUDIT_KEY_PASSPHRASE": "cow"})
    assert (wrong.code, "horse" in wrong.err, "cow" in wrong.err) == (2, False, False)
    assert run("audit", "patients.csv", "--qi", "age", "--certificate-key", "officer.pem").code == 2
    assert "is not a public Ed25519 key" in run("verify", "a.json", "--key", "officer.pem").err


def test_a_new_key_is_its_owners_and_never_takes_the_place_of_another() -> None:
    made = ("--certificate", "a.json", "--certificate-key", "officer.pem", "--new-key")
    first = run("audit", "patients.csv", "--qi", "age", *made)
    assert (first.code, "created the key 'officer.pem'" in first.err) == (0, True)
    assert Path("officer.pem").stat().st_mode & 0o777 == 0o600
    assert run("verify", "a.json", "--key", "officer.pub.pem").code == 0
    kept = Path("officer.pem").read_bytes()
    again = run("audit", "patients.csv", "--qi", "age", *made)
    assert (again.code, "keys are never overwritten" in again.err) == (2, True)
    assert Path("officer.pem").read_bytes() == kept
    assert run("audit", "patients.csv", "--qi", "age", "--certificate", "a.json", "--new-key").code == 2


def test_sql_of_the_file_is_compared_and_never_run() -> None:
    certified()
    own = "COPY (SELECT 1) TO 'stolen.csv'"
    ran = edited(lambda found: found["sql"][1].update(sql=own))
    assert (ran.code, "Sql: statement 2 another text" in ran.said) == (1, True)
    assert not Path("stolen.csv").exists()
    shown = run("verify", "a.json", "--show-sql")
    assert own not in shown.err
    assert own not in shown.out
    added = edited(lambda found: found["sql"].append({"step": "open", "sql": own}))
    assert (added.code, "Sql: statements" in added.said) == (1, True)


@pytest.mark.parametrize(
    "injected",
    [
        "(SELECT MAX(disease) FROM patients)",
        "repeat(sex, 1000000000)",
        "getenv(sex)",
        "age; DROP TABLE patients",
        "md5(sex)",
        "CASE WHEN age > 1 THEN md5(sex) END",
    ],
)
def test_sql_in_the_place_of_a_column_is_not_run(injected: str) -> None:
    certified()
    ran = edited(lambda found: found["request"]["roles"].update(qi=["age", injected]))
    assert ran.code == 2
    assert "SQL" in ran.err or "expression" in ran.err
    assert ran.out == ""


def test_expressions_that_only_compute_are_run_and_others_when_trusted() -> None:
    certified(qi="CASE WHEN age < 35 THEN 1 ELSE 2 END,lower(sex)")
    assert run("verify", "a.json").code == 0
    certified(qi="md5(sex)")
    assert run("verify", "a.json").code == 2
    assert run("verify", "a.json", "--trust-expressions").code == 0


def test_roles_that_name_other_columns_are_found() -> None:
    certified("--require", "k=3")
    ran = edited(lambda found: found["request"]["roles"].update(qi=["sex"]))
    assert ran.code == 1
    assert "Command another one" in ran.said
    assert "Snapshot: checksum" in ran.said
    assert "Groups 4 2" in ran.said
    gone = edited(lambda found: found["request"]["roles"].update(qi=["nothing"]))
    assert (gone.code, "has no column 'nothing'" in gone.err) == (2, True)


@pytest.mark.parametrize(
    "broken",
    [
        lambda found: found["request"].update(roles={"qi": {"age": 1}}),
        lambda found: found["request"].update(roles={"qi": ["age"], "nulls": []}),
        lambda found: found["request"].update(roles={"qi": ["age"], "joint": "yes"}),
        lambda found: found["request"].update(roles={"qi": ["age"], "unknown": "yes"}),
        lambda found: found["request"].update(read={"delimiter": 5}),
        lambda found: found["request"].update(read={"null_values": [[]]}),
        lambda found: found["request"].update(require=[["k"]]),
        lambda found: found["request"].update(require=["k=x"]),
        lambda found: found["request"].update(shown={"failing_classes": "1", "worst_classes": 1, "values": False}),
        lambda found: found["request"].update(target=7),
        lambda found: found["request"].pop("where"),
        lambda found: found["request"].pop("query"),
        lambda found: found["request"].pop("inputs"),
        lambda found: found["request"]["shown"].update(worst_classes=10**9),
        lambda found: found.update(sql=[1]),
        lambda found: found.update(signature="x"),
        lambda found: found.update(schema="other"),
        lambda found: found.update(figures=json.loads("[" * 200 + "]" * 200)),
    ],
    ids=range(18),
)
def test_what_no_program_wrote_is_refused_in_one_sentence(broken: Callable[[Certificate], object]) -> None:
    certified()
    ran = edited(broken)
    assert (ran.code, ran.out) == (2, "")
    assert "a.json is not a certificate" in ran.err or "certificate, or it was edited" in ran.err


def test_a_stranger_s_certificate_prints_no_line_of_a_file() -> None:
    certified()
    Path("secrets.txt").write_text("token-4711\nhunter2\n", encoding="utf-8")
    for file in ("secrets.txt", str(Path("secrets.txt").absolute())):
        for qi in (["age"], ["token-4712"], ["age + 1"], ['"token-471"']):

            def change(found: Certificate, file: str = file, qi: list[str] = qi) -> None:
                found["request"].update(target=file, roles={"qi": qi}, read={"file_format": "csv"})

            ran = edited(change)
            assert ran.code == 2
            assert "has no column" in ran.err
            assert "Name the certificate's table as TARGET" in ran.err
            assert "4711" not in ran.said


def test_more_requirements_than_anybody_has_are_not_run() -> None:
    certified()
    ran = edited(lambda found: found["request"].update(require=["k=2"] * 100_000))
    assert (ran.code, "has more than 100 requirements" in ran.err) == (2, True)


@pytest.mark.parametrize("value", [None, 7, True, "x", [1], {"a": 1}])
def test_no_part_of_a_certificate_crashes_it(value: object) -> None:
    text = json.dumps(certified("--require", "k=3"))

    def put(ways: list[tuple[Any, ...]], holder: Any, way: tuple[Any, ...]) -> None:
        ways.append(way)
        for name, inner in (
            holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        ):
            if len(way) < 2 or way[0] == "request":
                put(ways, inner, (*way, name))

    ways: list[tuple[Any, ...]] = []
    put(ways, json.loads(text), ())
    for way in ways[1:]:
        found = holder = json.loads(text)
        for name in way[:-1]:
            holder = holder[name]
        holder[way[-1]] = value
        Path("a.json").write_text(json.dumps(found), encoding="utf-8")
        ran = run("verify", "a.json")
        assert ran.code in (0, 1, 2), (way, ran.err)


def test_a_certificate_that_judged_spellings_twice_is_called_old() -> None:
    certified()
    ran = edited(lambda found: found["figures"]["checks"][0].update(details={"as_written": 2}))
    assert (ran.code, ran.out) == (2, "")
    assert "is of an older version" in ran.err


def test_what_was_said_of_spellings_is_in_the_certificate() -> None:
    certified("--fold-values")
    assert run("verify", "a.json").code == 0
    assert "--fold-values" in json.loads(Path("a.json").read_text("utf-8"))["command"]


def test_a_key_of_json_that_stands_twice_is_refused() -> None:
    certified()
    text = Path("a.json").read_text("utf-8")
    Path("a.json").write_text(text.replace('"time":', '"time": "x",\n  "time":', 1), encoding="utf-8")
    assert (run("verify", "a.json").code, run("verify", "missing.json").code) == (2, 2)


def test_other_versions_are_said_and_their_sql_is_not_compared() -> None:
    certified()

    def older(found: Certificate) -> None:
        found["versions"]["sqlaudit"] = "0.0.1"
        found["sql"].pop()

    ran = edited(older)
    assert (ran.code, "Its SQL was not compared" in ran.said) == (0, True)


def test_a_certificate_is_not_asked_for_with_an_export() -> None:
    more = ("--certificate", "a.json", "--failing-classes-to", "f.csv")
    assert "exclude each other" in run("audit", "patients.csv", "--qi", "age", *more).err
    assert run("audit", "patients.csv", "--qi", "age", "--certificate", "patients.csv").code == 2


def test_a_table_of_a_database(postgres_url: str, load: Callable[..., str]) -> None:
    name = load("certified", [{"age": n % 3, "s": f"v{n % 2}"} for n in range(12)], {"age": "int", "s": "text"})
    more = ("--db", postgres_url, "--sensitive", "s", "--require", "k=3")
    assert run("audit", name, "--qi", "age", *more, "--certificate", "a.json").code == 0
    text = Path("a.json").read_text("utf-8")
    assert postgres_url not in text
    assert "v0" not in text
    assert json.loads(text)["command"].startswith("sqlaudit audit --db … ")
    asked = run("verify", "a.json")
    assert (asked.code, "name the database with --db" in asked.err) == (2, True)
    assert run("verify", "a.json", "--db", postgres_url).code == 0


def test_the_certificate_of_an_audit_with_a_published_rule(tmp_path: Path) -> None:
    found = certified("--preset", "hipaa-expert", "--preset", "cells-5", "--require", "k=3")
    assert [error.message for error in validator("certificate").iter_errors(found)] == []
    assert "--preset hipaa-expert --preset cells-5 --require k=3" in found["command"]
    assert found["command"].count("--require") == 1
    assert (run("verify", "a.json").code, "presets" in certified()["request"]) == (0, False)


@pytest.mark.parametrize(
    "forged",
    [
        lambda asked: asked.update(presets=["hipaa-expert", "ema-0070"]),
        lambda asked: asked.update(presets=["ema-0070"]),
        lambda asked: asked.update(presets=[]),
        lambda asked: asked.update(presets=["nobodys-rule"]),
        lambda asked: asked.update(presets="hipaa-expert"),
        lambda asked: asked.update(require=["k=2"]),
        lambda asked: asked.pop("presets"),
    ],
)
def test_a_limit_that_the_published_rule_does_not_set_is_not_of_it(forged: Callable[[Certificate], object]) -> None:
    certified("--preset", "hipaa-expert")
    ran = edited(lambda found: forged(found["request"]))
    assert ran.code in (1, 2)
    assert "Traceback" not in ran.err
