"""Who is one person, what is one value: nothing is folded silently, and what is said is the column everywhere."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Roles, Target
from sqlaudit.classes import histogram
from sqlaudit.classes.opening import BLANKS, UNSEEN, ColumnValues, resolve_roles, spelling_statement
from sqlaudit.column_sets.counting import Chosen
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.models.base import Check
from sqlaudit.profiles.warnings import audit_warnings
from tests.audit_values import values_query
from tests.audits.unwarned import unwarned  # noqa: F401
from tests.cli.runner import run as run_command
from tests.engines.test_postgres_equality import make_folded
from tests.postgres_load import Loader
from tests.strategies import run

AuditOn = Callable[..., AuditResult]
REQUIRED = ["k=2", "l=2", "entropy_l=1.5", "t=0.3", "extended_k=2", "alpha=0.5"]
COLUMNS = {"q": "text", "s": "text", "p": "text"}
PERSONS = {
    "plain": ["P1", "p1 ", "  P1"],
    "selectors": ["P1", "P1\ufe0f", "P1\U000e0041"],
    "bidi": ["P1", "P\u200e1", "\u202eP1", "\u180eP1", "P1\ufff9"],
    "controls": ["P1", "P1\x01", "P1\x1c", "P1\x85", "P1\x7f", "P1\u2028"],
    "accents": ["É", "e\u0301", "E\u0301"],
    "sharp": ["STRASSE", "straße", "Strasse"],
    "width": ["P1", "Ｐ１", "\u3000P1"],
    "voiced": ["バ", "ﾊﾞ"],
    "dots": ["I", "İ", "ı", "i"],
    "sigma": ["ΣΑΣ", "σας"],
}
APART = ["peche", "pêche", "HIV-1", "HIV 1", "HIV1", "0", "x", "é", "e"]
ALIKE = [
    {"q": q, "s": s, "p": p}
    for q, s, p in [("a", "flu", "P1"), ("a", "Flu", "p1 "), ("b", "HIV", "P2"), ("b", "x", "P-1")]
]
CODE = "equal_but_written_differently"
SAY = r"with (values='fold'|--fold-values), or different with (values='exact'|--exact-values)"


def folded(text: str) -> str:
    """The rule in slow, obvious Python."""
    wide = "".join(
        unicodedata.normalize("NFKC", one)
        if unicodedata.decomposition(one).startswith(("<wide>", "<narrow>")) and "\uff00" <= one <= "\uffef"
        else one
        for one in text
    )
    seen = unicodedata.normalize("NFC", "".join(one for one in wide if ord(one) not in points(UNSEEN)))
    lower = "".join("i" if one in "Iİıi" else "ss" if one in "ßẞ" else one.lower() for one in seen)
    even = lower.translate(str.maketrans("ςſϐϑϕϖϰϱϵµẛ", "σsβθφπκρεμṡ")).replace("i\u0307", "i")
    words = "".join(" " if ord(one) in points(BLANKS) else one for one in unicodedata.normalize("NFC", even))
    return re.sub(" +", " ", words).strip(" ")


@functools.cache
def points(ranges: str) -> frozenset[int]:
    """The code points of ranges as they are written."""
    ends = [one.partition("-") for one in ranges.split()]
    return frozenset(code for a, _, b in ends for code in range(int(a, 16), int(b or a, 16) + 1))


def test_every_character_without_a_picture_is_known() -> None:
    for code in range(1, 0x110000):
        one = chr(code)
        blank = one.isspace() or unicodedata.category(one) in ("Zs", "Zl", "Zp")
        assert (code in points(BLANKS)) == blank, hex(code)
        if unicodedata.category(one) in ("Cf", "Cc") and not blank:
            assert code in points(UNSEEN), hex(code)


IGNORED = "ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff ffa0 fff0-fff8 \
1bca0-1bca3 1d173-1d17a e0000-e0fff"
"""Default_Ignorable_Code_Point of Unicode 14 to 16 (DerivedCoreProperties.txt)."""
NAMED = re.compile(r"\b(BLANK|FILLER|NULL|INVISIBLE|JOINER|SELECTOR|OBJECT REPLACEMENT)\b")
SEEN = re.compile(r"BOX|SYMBOL FOR|GAP FILLER|LINE FILLER|BLANK SYMBOL|LETTER SELECTOR")
"""Of these, what has a picture: signs for blanks, and fillers that are drawn."""


def test_what_programs_may_ignore_and_what_is_named_empty_is_known() -> None:
    assert points(IGNORED) <= points(UNSEEN)
    names = {code: unicodedata.name(chr(code), "") for code in range(0x80, 0x110000)}
    empty = {code for code, name in names.items() if NAMED.search(name) and not SEEN.search(name)}
    assert {0xFFFC, 0x16FE4, 0x1D159, 0x1107F, 0x2D7F} <= empty
    assert sorted(map(hex, empty - points(UNSEEN) - points(BLANKS))) == []


@pytest.mark.parametrize("code", [0xFFFC, 0x16FE4, 0x1D159, 0x1107F, 0x2D7F, 0xE0FFF, 0x13439])
def test_values_that_nobody_can_tell_apart_are_one(engine: Engine, code: int) -> None:
    query = values_query([{"q": 1, "s": text} for text in ("flu", f"fl{chr(code)}u")], {"q": "int", "s": "text"})
    asked: dict[str, Any] = {"query": query, "db": engine, "qi": "q", "sensitive": "s", "require": "l=2"}
    assert sqlaudit.audit(**asked, values="fold").status == "fail"
    assert sqlaudit.audit(**asked).status == "undetermined"


@pytest.mark.parametrize("values", ["fold", None])
def test_a_nul_is_not_seen_either(values: str | None) -> None:
    frame = pd.DataFrame({"q": [1, 1], "s": ["flu", "flu\0"]})
    assert not sqlaudit.audit(frame, qi="q", sensitive="s", require="l=2", values=values).passed


def found(engine: Engine, texts: list[str | None], *, missing: bool = True) -> tuple[int, int]:
    """How many values have several spellings, and whether some cannot be said, in the database."""
    query = values_query([{"x": one} for one in texts], {"x": "text"})
    relation = engine.open(Target(query=query))
    chosen = Chosen("x", "x", Kind.TEXT, "text")
    row = engine.run(spelling_statement(ColumnValues("x", [(relation, chosen)], missing), engine.dialect))[0]
    return int(row[0]), int(row[1])


@pytest.mark.parametrize("spellings", PERSONS.values(), ids=PERSONS)
def test_every_engine_folds_these(engine: Engine, spellings: list[str]) -> None:
    assert found(engine, [*spellings, "another"])[0] >= 1


def test_what_tells_words_apart_stays_apart(engine: Engine) -> None:
    assert found(engine, list(APART)) == (0, 0)
    assert found(engine, ["x", "", None]) == (1, 0)
    assert found(engine, ["x", "\u200b", None]) == (1, 0)
    assert found(engine, ["x", "", None], missing=False) == (0, 0)


LETTERS = st.characters(codec="utf-8", exclude_characters="\0", max_codepoint=0xFFFF, exclude_categories=["Cn", "Cs"])
HARD = st.sampled_from([one for spellings in PERSONS.values() for text in spellings for one in text])


@given(st.lists(st.text(st.one_of(LETTERS, HARD), max_size=6), min_size=2, max_size=12))
@example(["ı\u0323", "ị"])
@run(150, some=5)
def test_no_spelling_is_missed(engine: Engine, texts: list[str]) -> None:
    different: dict[str, set[str]] = {}
    for one in texts:
        for spelling in (one, one.lower(), f" {one}\u200b", unicodedata.normalize("NFD", one)):
            different.setdefault(folded(spelling), set()).add(spelling)
    expected = sum(len(spellings) > 1 for spellings in different.values())
    merged, unsure = found(engine, sorted(one for spellings in different.values() for one in spellings), missing=False)
    assert merged >= expected if unsure else merged == expected


def same(check: Check) -> tuple[Any, ...]:
    return check.status, check.level, check.failing_classes, check.failing_rows


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", None]),
            st.sampled_from(["flu", "Flu", " flu", "HIV", "hiv\u00a0", "", None]),
            st.sampled_from(["P1", "p1 ", "P2", "P\u200b2", "P3"]),
        ),
        min_size=1,
        max_size=10,
    ),
    persons=st.booleans(),
    packed=st.booleans(),
    joint=st.booleans(),
)
@run(60, some=3)
def test_what_is_said_is_the_column(
    audit_on: AuditOn, rows: list[tuple[str | None, str | None, str]], persons: bool, packed: bool, joint: bool
) -> None:
    asked: dict[str, Any] = {"qi": ["q"], "sensitive": ["s"], "joint": joint, "require": REQUIRED}
    asked |= {"entity": "p"} if persons else {}

    def checks(read: Callable[[str], str], name: Callable[[str], str], **more: Any) -> tuple[Check, ...]:
        values = [
            (q, None if s is None else read(s) or None if read is folded else read(s), name(p)) for q, s, p in rows
        ]
        return audit_on([{"q": q, "s": s, "p": p} for q, s, p in values], COLUMNS, **asked, **more).checks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histogram, "PACKED_VALUES", 32 if packed else 0)
        one, other = checks(str, str, values="fold"), checks(folded, folded)
        assert [same(check) for check in one] == [same(check) for check in other]
        unsaid, exact = checks(str, str), checks(str, str, values="exact")
    values, names = ({row[place] for row in rows} for place in (1, 2))
    merges = len({(folded(one) or None) if one else None for one in values}) < len(values)
    unsure = persons and len({folded(str(one)) for one in names}) < len(names)
    for check, written in zip(unsaid, exact, strict=True):
        depends = unsure or (merges and (joint or check.sensitive == "s"))
        if depends:
            assert (check.status, check.failing_classes) == (Status.UNDETERMINED, None)
            assert re.search(SAY, check.note)
        else:
            assert same(check) == same(written)


def test_inputs_name_folded_values_however_they_are_written() -> None:
    table = pa.table({"q": ["a"] * 4, "s": ["HIV", "hiv ", "flu", "cold"]})
    for name in ("HIV", " hiv"):
        inputs = {"categories": {"viral": [name, "Flu"], "other": ["cold"]}}
        asked: dict[str, Any] = {"require": ["categorical_l=2"], "inputs": inputs}
        [check] = sqlaudit.audit(table, qi=["q"], sensitive="s", values="fold", **asked).checks
        assert check.status is Status.PASS


def test_why_nothing_is_said(audit_on: AuditOn) -> None:
    result = audit_on(ALIKE, COLUMNS, qi=["q"], sensitive=["s"], require=["k=2", "l=2"])
    k, diversity = result.checks
    assert (k.status, diversity.status) == (Status.PASS, Status.UNDETERMINED)
    assert diversity.note == (
        "1 value in column s is written in several ways, which differ only in case, blanks, width or invisible "
        "characters, or are NULL and ''. Choose whether they are one with values='fold', or different "
        "with values='exact'."
    )
    assert [one.message for one in result.warnings if one.code == "spelling_variants"] == [diversity.note]


def test_floating_point_numbers_of_a_population_are_not_joined_with_exact_ones() -> None:
    own = pa.table({"q": [2**53 + 1]})
    for other, passes in ((pa.table({"q": [2.0**53]}), False), (pa.table({"q": [2**53, 2**53 + 1]}), True)):
        asked: dict[str, Any] = {"qi": ["q"], "require": ["k_map=1"], "inputs": {"population": other}}
        with nullcontext() if passes else pytest.raises(UsageError, match="Give it the same type in both tables"):
            assert sqlaudit.audit(own, **asked).passed


def csv(folder: Path) -> str:
    lines = "".join(f"{row['q']},{row['s']},{row['p']},{place}\n" for place, row in enumerate(ALIKE))
    (folder / "people.csv").write_text("q,s,p,t\n" + lines, encoding="utf-8")
    return str(folder / "people.csv")


OF_VALUES: dict[str, dict[str, Any]] = {
    "lattice": {"require": ["l=1"]},
    "recode": {"require": ["l=1"]},
    "suppress": {"require": ["k=2"]},
    "disclosure_curve": {},
    "attack": {},
}
OF_PERSONS: dict[str, dict[str, Any]] = {
    "lattice": {"qi": ["q"], "require": ["k=1"]},
    "persons": {"qi": ["q"]},
    "columns": {"columns": ["q"]},
    "attack": {"qi": ["q"]},
}


def calls(file: str) -> dict[str, Callable[..., Any]]:
    found = {
        f"{name} of values": functools.partial(getattr(sqlaudit, name), file, qi=["q"], sensitive=["s"], **asked)
        for name, asked in OF_VALUES.items()
    }
    found |= {
        f"{name} of persons": functools.partial(getattr(sqlaudit, name), file, entity="p", **asked)
        for name, asked in OF_PERSONS.items()
    }
    places = {"x": "t", "y": "t", "time": "t", "k": 1, "box": 1000, "interval": 600}
    return found | {
        "compare": functools.partial(sqlaudit.compare, file, file, qi=["q"], sensitive=["s"]),
        "releases": functools.partial(
            sqlaudit.releases, [Target(file), Target(file, label="b")], entity="t", qi=["q"], sensitive=["s"]
        ),
        "aggregates": functools.partial(
            sqlaudit.aggregates, file, microdata=True, by=["q"], person="p", require=["threshold=1"]
        ),
        "holdings": functools.partial(
            sqlaudit.aggregates, file, microdata=True, by=["q"], holdings="p", require=["threshold=1"]
        ),
        "cloak": functools.partial(sqlaudit.cloak, file, user="p", **places),
        "cloak with a delay": functools.partial(sqlaudit.cloak, file, user="p", delay=5, **places),
    }


@pytest.mark.parametrize("name", calls("people.csv"))
def test_what_writes_or_cannot_say_it_refuses(tmp_path: Path, name: str) -> None:
    call = calls(csv(tmp_path))[name]
    with pytest.raises(UsageError, match=SAY):
        call()
    call(values="exact")
    call(values="fold")


@pytest.mark.parametrize("kind", ["list", "struct", "map", "blob"])
def test_several_texts_in_one_value_are_not_judged(tmp_path: Path, kind: str) -> None:
    texts = {"list": "['P1']", "struct": "{'a': 'P1'}", "map": "MAP {'a': 'P1'}", "blob": "'P1'::BLOB"}
    query = f"SELECT 1 AS q, {texts[kind]} AS s UNION ALL SELECT 1, {texts[kind].replace('P1', 'p1 ')}"
    for role in ({"sensitive": ["s"], "require": ["l=2"]}, {"entity": "s", "require": ["k=2"]}):
        [check] = sqlaudit.audit(query=query, qi=["q"], **role).checks
        assert check.status is Status.UNDETERMINED
        assert "several texts in one value" in check.note
        [check] = sqlaudit.audit(query=query, qi=["q"], values="exact", **role).checks
        assert check.status is Status.PASS
        with pytest.raises(UsageError, match="several texts in one value"):
            sqlaudit.audit(query=query, qi=["q"], values="fold", **role)
    numbers = "SELECT 1 AS q, [1, 2] AS s UNION ALL SELECT 1, [3]"
    assert sqlaudit.audit(query=numbers, qi=["q"], sensitive=["s"], require=["l=2"]).passed


@pytest.mark.postgres
@pytest.mark.parametrize("kind", ["text[]", "bytea", "jsonb", "of_two"])
def test_several_texts_in_one_value_of_postgres(load: Loader, postgres_url: str, kind: str) -> None:
    if kind == "of_two":
        load.execute("CREATE TYPE of_two AS (a text, b int)")
    one, other = {
        "text[]": ("{P1}", '{"p1 "}'),
        "bytea": ("P1", "p1 "),
        "jsonb": ('{"a": "P1"}', '{"a": "p1 "}'),
        "of_two": ("(P1,1)", '("p1 ",1)'),
    }[kind]
    name = f"nested_{kind.rstrip('[]')}"
    load.execute(f"CREATE TABLE {name} (q int, s {kind}); GRANT SELECT ON {name} TO auditor")
    load.execute(f"INSERT INTO {name} VALUES (1, '{one}'), (1, '{other}')")
    asked: dict[str, Any] = {"db": postgres_url, "qi": ["q"], "sensitive": ["s"], "require": ["l=2"]}
    assert sqlaudit.audit(name, **asked).status is Status.UNDETERMINED
    assert sqlaudit.audit(name, values="exact", **asked).passed


@pytest.mark.postgres
def test_names_that_the_database_takes_for_one_are_one(load: Loader, postgres_url: str) -> None:
    make_folded(load)
    load.execute("CREATE TABLE named (q text, p folded); GRANT SELECT ON named TO auditor")
    load.execute("INSERT INTO named VALUES ('a', 'P1'), ('a', 'p1'), ('a', 'P2')")
    asked: dict[str, Any] = {"qi": ["q"], "entity": "p", "require": ["k=2"]}
    assert sqlaudit.lattice("named", db=postgres_url, hierarchies={"q": {"mask": 1}}, **asked).best is not None


def test_persons_of_a_population_are_judged_by_the_same(tmp_path: Path) -> None:
    own = pa.table({"q": ["a", "a"], "p": ["x", "y"]})
    pq.write_table(pa.table({"q": ["a", "a", "a"], "p": ["P1", "p1 ", "z"]}), tmp_path / "all.parquet")
    asked: dict[str, Any] = {"qi": ["q"], "entity": "p", "require": ["k_map=3"]}
    inputs = {"population": {"table": str(tmp_path / "all.parquet")}}
    levels = {}
    for values in (None, "fold", "exact"):
        [check] = sqlaudit.audit(own, inputs=inputs, values=values, **asked).checks
        levels[values] = check.status, check.level
    assert levels[None][0] is Status.UNDETERMINED
    assert levels["fold"] == (Status.FAIL, 2)
    assert levels["exact"] == (Status.PASS, 3)


def test_a_policy_says_it(tmp_path: Path) -> None:
    csv(tmp_path)
    required = "[k=2, {column_sets: {max_size: 1}}, km@1=2]"
    text = f"tables:\n  - file: people.csv\n    quasi_identifiers: [q]\n    entity: p\n    requirements: {required}\n"
    outcomes = {}
    for values in ("", "    values: exact\n", "    values: fold\n"):
        (tmp_path / "policy.yml").write_text("version: 1\n" + text + values, encoding="utf-8")
        tests = sqlaudit.gate(tmp_path / "policy.yml").tests
        outcomes[values.strip()] = [test.outcome.value for test in tests]
        if not values:
            assert all("values: fold, or different with values: exact" in test.message for test in tests), tests
    assert outcomes[""] == ["undetermined", "error", "undetermined"]
    assert outcomes["values: exact"][0] == "pass"
    assert outcomes["values: fold"][0] == "fail"


def test_numbers_that_are_written_in_several_ways_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("q,s\n1.0,01\n1.00,1\n-0,+7\n0,7\n.5,2020-1-1\n0.50,2020-01-01\n", encoding="utf-8")
    (tmp_path / "a.json").write_text('[{"q": 1e2, "s": "1,5"}, {"q": 100, "s": "1.5"}]', encoding="utf-8")
    (tmp_path / "b.csv").write_text("q,s\n1.0,01\n2.0,12\n", encoding="utf-8")
    for name, count in (("a.csv", 3), ("a.json", 1), ("b.csv", 0)):
        with connect() as engine:
            relation = engine.open(Target(str(tmp_path / name)))
            roles = resolve_roles(Roles(("q",), ("s",)), relation, engine)
            said = [one.message for one in audit_warnings(engine, relation, roles) if one.code == CODE]
        assert [one[:4] for one in said] == ([f"q: {count}", f"s: {count}"] if count else [])


PLACES = ["--user", "p", "--x", "t", "--y", "t", "--time", "t"]
COMMANDS = [
    ["audit", "people.csv", "--qi", "q", "--entity", "p", "--require", "k=2"],
    ["lattice", "people.csv", "--qi", "q", "--entity", "p", "--require", "k=1"],
    ["suppress", "people.csv", "--qi", "q", "--sensitive", "s", "--require", "k=2"],
    ["recode", "people.csv", "--qi", "q", "--sensitive", "s", "--require", "l=1"],
    ["disclosure", "people.csv", "--qi", "q", "--sensitive", "s"],
    ["attack", "people.csv", "--qi", "q", "--sensitive", "s"],
    ["persons", "people.csv", "--qi", "q", "--entity", "p"],
    ["columns", "people.csv", "--columns", "q", "--entity", "p"],
    ["releases", "people.csv", "people.csv", "--qi", "q", "--sensitive", "s", "--entity", "t"],
    ["aggregates", "people.csv", "--from", "--by", "q", "--person", "p", "--require", "threshold=1"],
    ["cloak", "people.csv", *PLACES, "--k", "1", "--box", "1km", "--interval", "10min"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=[one[0] for one in COMMANDS])
def test_every_command_takes_one_of_two_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    csv(tmp_path)
    monkeypatch.chdir(tmp_path)
    plain = run_command(*command)
    assert plain.code == (1 if command[0] == "audit" else 2)
    assert "--fold-values, or different with --exact-values" in plain.out + plain.err
    both = run_command(*command, "--exact-values", "--fold-values")
    assert (both.code, both.out) == (2, "")
    assert "contradict each other" in both.err
    said = [run_command(*command, flag) for flag in ("--fold-values", "--exact-values")]
    assert [(one.code, one.err) for one in said if one.code not in (0, 1)] == []
