"""Bucketized releases: two tables say what the one table says in which the bucket is the class; on every engine."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.engines.contract import Engine
from sqlaudit.papers.tables import find_table
from tests.audit_values import values_query
from tests.cli.runner import run as sqlaudit_command
from tests.models.disclosure import oracle
from tests.reports.schemas import validator
from tests.strategies import run

PERSONS, VALUES = {"age": "int", "b": "int"}, {"b": "int", "s": "text", "n": "int"}


@run(12)
@given(st.data())
def test_two_tables_are_the_histogram_of_their_buckets(engine: Engine, data: st.DataObject) -> None:
    row = st.tuples(st.integers(1, 3), st.sampled_from(["flu", "it's", None]), st.sampled_from([30, 40, None]))
    rows = data.draw(st.lists(row, min_size=1, max_size=8))
    counts: dict[int, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    for bucket, value, _ in rows:
        counts[bucket][value] += 1
    persons = [{"age": age, "b": bucket} for bucket, _, age in rows]
    counted = [{"b": b, "s": s, "n": n} for b, found in counts.items() for s, n in found.items()]
    single = [{"b": b, "s": s, "n": 1} for b, s, _ in reversed(rows)]
    classes = [sorted(found.values(), reverse=True) for found in counts.values()]
    for values, count in ((counted, "n"), (single, "")):
        second = Target(query=values_query(values, VALUES))
        asked: dict[str, Any] = {
            "query": values_query(persons, PERSONS),
            "buckets": {"table": second, "column": "b", "count": count},
            "db": engine,
            "qi": ["b"],
            "sensitive": ["s"],
        }
        audited = sqlaudit.audit(require=["k=2", "l=2"], **asked)
        assert audited.rows == len(rows)
        assert [check.level for check in audited.checks] == [min(map(sum, classes)), min(map(len, classes))]
        curve = sqlaudit.disclosure_curve(knowledge=2, **asked).disclosure.points
        for point in curve:
            k = point.k
            assert (point.maximum, point.negated) == (oracle.maximum(classes, k), oracle.negated(classes, k))


FIGURE = [  # Figure 3 of the paper: 14850 and 14853, men and women
    *[("M", value) for value in ("Flu", "Lung Cancer", "Mumps", "Flu", "Lung Cancer")],
    *[("F", value) for value in ("Flu", "Breast Cancer", "Flu", "Heart Disease", "Ovarian Cancer")],
]
ROWS = pd.DataFrame({"age": [23, 24, 25, 27, 29, 21, 22, 24, 26, 28], "bucket": [sex for sex, _ in FIGURE]})
LISTED = pd.DataFrame({"bucket": [sex for sex, _ in FIGURE], "disease": [value for _, value in FIGURE]})
ASKED: dict[str, Any] = {"qi": ["bucket"], "sensitive": "disease"}


def test_figure_3_of_the_paper() -> None:
    assert len(find_table("004:figure-3").rows) == len(FIGURE)
    second = {"table": LISTED, "column": "bucket"}
    assert sqlaudit.audit(ROWS, buckets=second, require="k=5", **ASKED).checks[0].level == 5
    found = sqlaudit.disclosure_curve(ROWS, buckets=second, knowledge=2, **ASKED).disclosure
    assert [str(value) for value in found.curve] == ["2/5", "2/3", "1"]
    told = sqlaudit.attack(ROWS, buckets=second, pieces=2, only=["background_knowledge"], **ASKED)
    assert [step["certain"] for step in told.exposure("background_knowledge").steps] == [0, 0, 5]


def test_the_command_takes_two_files(tmp_path: Path) -> None:
    ROWS.to_csv(tmp_path / "persons.csv", index=False)
    counts = LISTED.groupby(["bucket", "disease"]).size().reset_index(name="persons")
    counts.to_csv(tmp_path / "values.csv", index=False)
    second = ["--buckets", tmp_path / "values.csv", "--bucket-column", "bucket", "--bucket-count", "persons"]
    asked = [tmp_path / "persons.csv", "--qi", "bucket", "--sensitive", "disease", *second]
    told = sqlaudit_command("audit", *asked, "--require", "k=5", "--require", "l=3")
    assert (told.code, "10 rows in 2 groups" in told.out) == (0, True), told.err
    for command in ("disclosure", "attack"):
        assert sqlaudit_command(command, *asked).code == 0
    left = sqlaudit_command("audit", *asked[:5], "--bucket-column", "bucket")
    assert (left.code, left.err) == (2, "sqlaudit: The table of bucket values is missing. Name it with --buckets.\n")
    certified = sqlaudit_command("audit", *asked, "--certificate", tmp_path / "c.json")
    assert certified.err == "sqlaudit: A certificate covers one table: leave out --certificate or --buckets.\n"


@pytest.mark.parametrize(
    ("persons", "values", "more", "said"),
    [
        (ROWS[1:], LISTED, {}, ": 1 buckets have different numbers of people and values. Each bucket needs one row"),
        (ROWS[5:], LISTED, {}, ": 1 buckets of the table of buckets have no people in frame. "),
        (ROWS, LISTED[5:], {}, ": 1 buckets of frame have no values in the table of buckets. "),
        (ROWS.assign(bucket=[None, *ROWS.bucket[1:]]), LISTED, {}, ": 1 rows have no bucket; 1 buckets have different"),
        (ROWS, LISTED.assign(n=0), {"count": "n"}, ": 10 rows of the table of buckets have a count below 1, or none; "),
        (ROWS, LISTED, {"count": "disease"}, "disease of the table of buckets must have whole numbers, but is text"),
        (ROWS, LISTED.assign(bucket=1), {}, "bucket is text in frame but integer in the table of buckets. "),
        (ROWS, LISTED[["bucket"]], {}, "the table of buckets has no column of sensitive values beside bucket."),
        (ROWS, LISTED, {"column": "buckets"}, "bucket_column: frame has no column 'buckets'. Did you mean 'bucket'?"),
    ],
)
def test_tables_that_are_not_of_one_release_are_refused(
    persons: pd.DataFrame, values: pd.DataFrame, more: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        sqlaudit.audit(persons, buckets={"table": values, "column": "bucket", **more}, **ASKED)
    assert said in str(caught.value)


JOINED = [
    {"age": int(age), "b": bucket, "s": value}
    for age, bucket in ROWS.itertuples(index=False)
    for other, value in FIGURE
    if bucket == other
]
COLUMNS = {"age": "int", "b": "text", "s": "text"}


def _judged(engine: Engine, rows: list[dict[str, Any]], **more: Any) -> Any:
    columns = {name: COLUMNS.get(name, "int") for name in rows[0]}
    query = values_query(rows, columns)
    return sqlaudit.audit(query=query, db=engine, qi=["b"], sensitive="s", require="k=5", **more).checks[0].level


def test_the_two_tables_joined_are_refused(engine: Engine) -> None:
    with pytest.raises(UsageError, match="so the smallest has 25 rows for 5 people"):
        _judged(engine, JOINED)
    asked: dict[str, Any] = {"query": values_query(JOINED, COLUMNS), "db": engine, "qi": ["b"], "sensitive": "s"}
    for call in (sqlaudit.disclosure_curve, sqlaudit.attack):
        with pytest.raises(UsageError, match="joined: each group combines every person with every value"):
            call(**asked)
    with pytest.raises(UsageError, match="25 rows for 5 people"):  # where no values are named, any column may be them
        sqlaudit.audit(query=asked["query"], db=engine, qi=["b"], require="k=5")


def test_a_join_is_refused_where_the_persons_columns_are_known(engine: Engine) -> None:
    """A class is then a person, once for each value of the bucket: 5 rows, where no one is like another."""
    named = [{**row, "age": row["age"] + (50 if row["b"] == "F" else 0)} for row in JOINED]
    asked: dict[str, Any] = {"query": values_query(named, COLUMNS), "db": engine, "require": "k=5"}
    for known in (["age"], ["age", "b"]):
        for sensitive in ("s", ()):
            with pytest.raises(UsageError, match="the smallest has 5 rows for 1 person"):
                sqlaudit.audit(qi=known, sensitive=sensitive, **asked)
    with pytest.raises(UsageError, match="5 rows for 1 person"):
        sqlaudit.disclosure_curve(query=asked["query"], db=engine, qi=["age"], sensitive="s")
    moved = [dict(row) for row in named]
    moved[0]["s"], moved[-1]["s"] = moved[-1]["s"], moved[0]["s"]
    assert sqlaudit.audit(**{**asked, "query": values_query(moved, COLUMNS)}, qi=["age"], sensitive="s").passed


@pytest.mark.parametrize("counts", [{}, {"count": 1}])
def test_one_bucket_without_quasi_identifiers_is_refused_too(engine: Engine, counts: dict[str, int]) -> None:
    rows = [{"who": who, "s": s, **counts} for who in "abc" for s in "xyz"]
    query = values_query(rows, {"who": "text", "s": "text", **dict.fromkeys(counts, "int")})
    with pytest.raises(UsageError, match="No quasi-identifiers are named"):
        sqlaudit.audit(query=query, db=engine, sensitive="s", require=["k=5"])


def test_values_joined_with_their_counts_are_refused(engine: Engine) -> None:
    counts = LISTED.groupby(["bucket", "disease"]).size().reset_index(name="persons")
    joined = ROWS.merge(counts, on="bucket").rename(columns={"bucket": "b", "disease": "s"}).to_dict("records")
    with pytest.raises(UsageError, match="the smallest has 15 rows for 5 people"):
        _judged(engine, joined)
    asked: dict[str, Any] = {"db": engine, "qi": ["b"], "sensitive": "s"}
    query = values_query(joined, {**COLUMNS, "persons": "int"})
    for call in (sqlaudit.disclosure_curve, sqlaudit.attack):
        with pytest.raises(UsageError, match="joined: each group combines every person with every value"):
            call(query=query, **asked)
    visits = [{**row, "persons": row["persons"] + (row["age"] == 21)} for row in joined]
    assert _judged(engine, visits) == 15
    assert _judged(engine, [{"age": n, "b": "x", "s": value, "n": 1} for n, value in enumerate("aabb")]) == 4


DESIGN = pd.DataFrame([("x", dose, grade) for dose in range(3) for grade in "abc"], columns=["b", "dose", "s"])
"""Each grade once beside each dose, as in the join of three persons with three values."""


def test_a_design_that_looks_like_a_join_has_a_way_out() -> None:
    asked: dict[str, Any] = {"qi": ["b"], "sensitive": "s"}
    with pytest.raises(UsageError, match=r"9 rows for 3 people.* with entity=, or add a column that numbers"):
        sqlaudit.audit(DESIGN, **asked)
    numbered = DESIGN.assign(row=range(9))
    for more in ({}, {"entity": "row"}):
        assert sqlaudit.audit(numbered, require="k=9", **asked, **more).passed
        assert sqlaudit.disclosure_curve(numbered, **asked, **more).disclosure.curve[0] == Fraction(1, 3)
        assert sqlaudit.attack(numbered, **asked, **more).smallest == 9
    found = sqlaudit.compare(DESIGN, DESIGN, require="k=9", **asked)
    assert (found.audit.passed, found.attacks.smallest) == (True, 9)
    three = DESIGN.assign(dose=0, s=list("aaabbbccc"))[::3]
    with pytest.raises(UsageError, match="9 rows for 3 people"):
        sqlaudit.compare(three, DESIGN, **asked)


def test_a_balanced_design_is_no_join_and_buckets_of_different_persons_are(engine: Engine) -> None:
    """Nine rows for each town: every dose with every grade, in all towns alike."""
    cells = [{"town": town, "dose": dose, "s": s} for town in "xyz" for dose in range(3) for s in "abc"]
    kinds = dict.fromkeys(("town", "s"), "text") | {"dose": "int"}
    for known in (["town"], ["town", "dose"]):
        for sensitive in ("s", ()):
            asked: dict[str, Any] = {"db": engine, "qi": known, "sensitive": sensitive, "require": "k=3"}
            assert sqlaudit.audit(query=values_query(cells, kinds), **asked).passed
            buckets = [{**row, "dose": row["dose"] + (row["town"] == "z")} for row in cells]
            with pytest.raises(UsageError, match="joined: each group combines every person with every value"):
                sqlaudit.audit(query=values_query(buckets, kinds), **asked)
    two = [row for row in cells if row["town"] != "z"]
    with pytest.raises(UsageError, match="9 rows for 3 people"):
        sqlaudit.audit(query=values_query(two, kinds), db=engine, qi="town", sensitive="s")


def test_a_policy_and_the_console_name_the_command(tmp_path: Path) -> None:
    DESIGN.to_csv(tmp_path / "joined.csv", index=False)
    policy = tmp_path / "p.yml"
    table = "{file: joined.csv, quasi_identifiers: [b], sensitive: [s], requirements: [k=5]}"
    policy.write_text(f"tables:\n- {table}\n", encoding="utf-8")
    said = sqlaudit_command("test", "--file", policy).said
    assert "Audit the table of people, and name the table of values with `sqlaudit audit --buckets`. " in " ".join(
        said.split()
    )
    told = sqlaudit_command("console", tmp_path / "joined.csv", "--qi", "b", "--sensitive", "s", "-c", "\\audit")
    assert "the table of values with `sqlaudit audit --buckets`. If each row is a person, name a column" in told.err


def test_what_is_no_join_is_audited(engine: Engine) -> None:
    swapped = [dict(row) for row in JOINED]
    swapped[0]["s"], swapped[1]["s"] = swapped[1]["s"], swapped[0]["s"]
    assert _judged(engine, [*swapped[1:], dict(JOINED[0])]) == 25
    assert _judged(engine, [{**row, "id": place} for place, row in enumerate(JOINED)]) == 25
    named = [{**row, "who": row["age"] + (10 if row["b"] == "F" else 0)} for row in JOINED]
    assert _judged(engine, named, entity="who") == 5
    assert _judged(engine, JOINED[1:]) == 24
    alike = [{"age": place % 3, "b": "x", "s": "flu"} for place in range(9)]
    assert _judged(engine, alike) == 9


def test_a_condition_would_break_buckets() -> None:
    with pytest.raises(UsageError, match="where= cannot be combined with buckets"):
        sqlaudit.audit(ROWS, buckets={"table": LISTED, "column": "bucket"}, where="age > 3", **ASKED)


ORIGINAL = ROWS.drop(columns="bucket").assign(id=range(10), disease=LISTED.disease)
NUMBERED = ROWS.assign(id=range(10))


def _compared(engine: Engine, persons: pd.DataFrame, values: pd.DataFrame = LISTED, **more: Any) -> Any:
    def table(frame: pd.DataFrame) -> Target:
        kinds = {name: "int" if name in ("age", "id") else "text" for name in frame.columns}
        return Target(query=values_query(frame.to_dict("records"), kinds))

    second = {"table": table(values), "column": "bucket"}
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "disease", "key": "id", "require": "k=5", "db": engine, **more}
    return sqlaudit.compare(table(ORIGINAL), table(persons), buckets=second, **asked)


def test_two_tables_beside_their_original(engine: Engine) -> None:
    found = _compared(engine, NUMBERED)
    general = found.generalization
    assert (general.answer.value, general.misfit_rows, general.changed) == ("yes", 0, {"disease": 0})
    assert (found.rows, found.released, found.audit.checks[0].level, found.losses) == (10, 10, 5, ())
    assert {one.attack for one in found.attacks.exposures} >= {"homogeneity"}
    validator("compare").validate(json.loads(json.dumps(found.to_dict())))
    swapped = LISTED.assign(disease=["Heart Disease", *LISTED.disease[1:8], "Flu", *LISTED.disease[9:]])
    changed = _compared(engine, NUMBERED, swapped)
    assert (changed.generalization.answer.value, changed.generalization.changed, changed.attacks) == (
        "no",
        {"disease": 2},
        None,
    )
    older = _compared(engine, NUMBERED.assign(age=[24, *NUMBERED.age[1:]], id=[0, *range(2, 10), 77])).generalization
    assert (older.misfit_rows, older.foreign, older.missing, older.answer.value) == (9, 1, 1, "no")
    left_out = _compared(engine, NUMBERED[1:], LISTED[1:])
    assert (left_out.generalization.missing, left_out.generalization.answer.value, left_out.rows) == (1, "yes", 10)


def test_rows_may_be_paired_by_position() -> None:
    second = {"table": LISTED, "column": "bucket"}
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "disease", "by_position": True, "buckets": second}
    assert sqlaudit.compare(ORIGINAL, NUMBERED, **asked).generalization.answer.value == "yes"
    turned = ORIGINAL.sort_values("id", ascending=False)
    assert sqlaudit.compare(turned, NUMBERED, **asked).generalization.misfit_rows == 10


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"key": ()}, "Counts cannot pair rows with buckets. Pair them by key= or by_posi"),
        ({"sensitive": ()}, "No sensitive columns are named. Name the columns in buckets with sensitive=."),
        ({"measures": ["loss"]}, "measures does not apply to releases in buckets, which keep all cells."),
        ({"workload": 5}, "workload does not apply to releases in buckets"),
        ({"queries": "SELECT COUNT(*) FROM t"}, "queries does not apply to releases in buckets"),
    ],
)
def test_what_buckets_do_not_answer_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        sqlaudit.compare(
            ORIGINAL,
            NUMBERED,
            buckets={"table": LISTED, "column": "bucket"},
            **{"qi": ["age"], "sensitive": "disease", "key": "id", **more},
        )
    assert said in str(caught.value)


def test_the_command_compares_two_files_with_the_original(tmp_path: Path) -> None:
    for name, frame in {"original": ORIGINAL, "persons": NUMBERED, "values": LISTED}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    second = ["--buckets", tmp_path / "values.csv", "--bucket-column", "bucket"]
    asked = ["--qi", "age", "--sensitive", "disease", "--key", "id", *second]
    told = sqlaudit_command("compare", tmp_path / "original.csv", tmp_path / "persons.csv", *asked)
    assert (told.code, "is a bucketized release of" in told.said) == (0, True), told.err
    assert "Every bucket has exactly the values of its people." in told.said
    assert (
        sqlaudit_command("compare", tmp_path / "original.csv", tmp_path / "persons.csv", *asked, "--dry-run").code == 0
    )


def test_columns_of_persons_are_not_what_classes_are_made_of(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("bucket,age\n1,20\n1,21\n", "utf-8")
    (tmp_path / "s.csv").write_text("bucket,illness\n1,flu\n1,cold\n", "utf-8")
    second = {"table": tmp_path / "s.csv", "column": "bucket"}
    said = (
        "qi: the classes of a bucketized release are its buckets, so 'age' cannot be named. Use qi=['bucket'], the "
        "column of buckets. Its sensitive columns are: illness."
    )
    with pytest.raises(UsageError) as caught:
        sqlaudit.audit(tmp_path / "p.csv", qi="age", buckets=second)
    assert str(caught.value) == said
    tables = (tmp_path / "p.csv", "--buckets", tmp_path / "s.csv", "--bucket-column", "bucket")
    ran = sqlaudit_command("audit", *tables, "--qi", "age")
    assert (ran.code, "Use --qi bucket, the column of buckets" in ran.err) == (2, True)
