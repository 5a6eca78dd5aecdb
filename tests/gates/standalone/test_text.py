"""What standalone statements look like: every dialect, names, refusals, and the script around them."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sqlglot
from sqlglot import exp

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import NullPolicy, Roles, Target
from sqlaudit.gates.standalone.checks import compile_statements as compile_checks
from sqlaudit.gates.standalone.checks import script
from sqlaudit.gates.standalone.names import DIALECTS, column, folded, nested, source, unsure
from sqlaudit.gates.standalone.recipes import NotCarried, partitions
from tests.cli.runner import run
from tests.strategies import fewer

CHECKS = [
    "k=5",
    "alpha=alpha:0.5,k:3",
    "l=2",
    "entropy_l=2.5",
    "recursive_l=c:3,l:3",
    "recursive_l=c:3,l:1",
    "extended_k=2",
    "t=0.2",
    "t_ordered=0.3",
    "beta=1",
    "enhanced_beta=1",
    "delta=1.5",
    "disclosure@0=0.7",
    "disclosure@1=0.7",
    "disclosure@2=1",
    "disclosure@3=0.9",
    "prosecutor_risk=0.2",
    "average_risk=0.3",
    "rows_at_risk=0.1",
    "sample_uniqueness=0",
    "range=2",
]
POPULATION = ["k_map=2", "journalist_risk=0.2", "marketer_risk=0.3", "delta_presence=max:0.5,min:0.1"]
INPUTS = {"class_function": "identity", "population": "people"}
UNSAFE = (
    exp.Lambda,
    exp.Bracket,
    exp.Slice,
    exp.Unnest,
    exp.ArrayAgg,
    exp.Filter,
    exp.GroupConcat,
    exp.Qualify,
    exp.IntDiv,
    exp.BitwiseAnd,
    exp.BitwiseRightShift,
    exp.Placeholder,
    exp.Parameter,
    exp.Log,
    exp.Round,
    exp.ArgMax,
    exp.ApproxDistinct,
    exp.Quantile,
    exp.Median,
    exp.Lateral,
)
"""Constructs that a dialect was seen to lack, or to read in another way."""
OWN_TEXTS = {"duckdb": {"utf-8"}, "snowflake": {"UTF-8"}, "tsql": {"1900-01-01"}}
"""How sqlglot tells the encoding of letters, and T-SQL's way to write the year of what is no date."""


def statements(dialect: str, entity: str | None, nulls: str, every: int = 1) -> list[str]:
    """Every check in one dialect; or one of so many, others in the next dialect, unless all cases are asked for."""
    roles = Roles(("age", "(year(birth))"), ("disease",), entity=entity, nulls=NullPolicy(nulls))
    checks = CHECKS + (POPULATION if nulls == "equal" else [])
    if fewer(100) < 100:
        checks = checks[list(DIALECTS).index(dialect) % every :: every]
    return [one.sql for one in compile_checks(Target("a.people"), roles, checks, dialect=dialect, inputs=INPUTS)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_check_parses_back_and_keeps_to_safe_constructs(dialect: str) -> None:
    """And holds no text that a database could fold or lack. Each check in every third dialect, by turns, or in all."""
    entity, nulls = ("person", "distinct") if dialect in ("snowflake", "spark", "tsql", "duckdb") else (None, "equal")
    for sql in statements(dialect, entity, nulls, every=3):
        (tree,) = sqlglot.parse(sql, dialect=dialect)
        assert isinstance(tree, exp.Select)
        assert not list(tree.find_all(*UNSAFE, exp.Create, exp.Into, exp.Command)), sql
        texts = _texts(tree) - _texts(sqlglot.parse_one(_foldings(dialect), dialect=dialect))
        assert texts <= {"pass", "fail", "undecided", "Infinity"} | OWN_TEXTS.get(dialect, set())
        assert dialect != "tsql" or "Infinity" not in sql


def _texts(tree: exp.Expression) -> set[str]:
    return {node.this for node in tree.find_all(exp.Literal) if node.is_string}


def _foldings(dialect: str) -> str:
    """What folding says in a dialect: its texts are ASCII, and each is read as it is written."""
    said = f"SELECT {folded('x', dialect, missing=True)}, {nested('x', dialect)}, {unsure('x', dialect)}"
    assert said.isascii()
    return said


@pytest.mark.parametrize(
    ("dialect", "type_of_products", "type_of_floats"),
    [
        ("bigquery", "BIGNUMERIC", "FLOAT64"),
        ("snowflake", "DECIMAL(38, 0)", "DOUBLE"),
        ("redshift", "DECIMAL(38, 0)", "DOUBLE PRECISION"),
        ("tsql", "NUMERIC(38, 0)", "FLOAT"),
        ("clickhouse", "Nullable(Decimal(38, 0))", "Nullable(Float64)"),
        ("trino", "DECIMAL(38, 0)", "DOUBLE"),
        ("databricks", "DECIMAL(38, 0)", "DOUBLE"),
        ("duckdb", "HUGEINT", "DOUBLE"),
    ],
)
def test_products_of_counts_have_38_digits(dialect: str, type_of_products: str, type_of_floats: str) -> None:
    (sql,) = (one.sql for one in compile_checks(Target("t"), Roles(("a",), ("s",)), ["t=0.2"], dialect=dialect))
    assert f" AS {type_of_products})" in sql
    assert f" AS {type_of_floats})" in sql


def test_t_sql_has_no_infinity() -> None:
    for sql in statements("tsql", None, "equal"):
        assert "Infinity" not in sql


@pytest.mark.parametrize(
    ("text", "dialect", "written"),
    [
        ("age", "snowflake", "age"),
        ("order", "postgres", '"order"'),
        ("Blood Type", "bigquery", "`Blood Type`"),
        ('"the ""month"""', "spark", '`the "month"`'),
        ('"the ""month"""', "postgres", '"the ""month"""'),
        ('"Age"', "snowflake", '"Age"'),
        ("age-band", "postgres", '"age-band"'),
        ('"age-band"', "postgres", '"age-band"'),
        ("1st_visit", "duckdb", '"1st_visit"'),
        ("%fat", "mysql", "`%fat`"),
        ("it's", "sqlite", '"it\'s"'),
        ("größe", "clickhouse", '"größe"'),
        ("age; drop table t", "postgres", '"age; drop table t"'),
        ("substr(zip, 1, 3)", "postgres", '"substr(zip, 1, 3)"'),
        ("a.b", "bigquery", "`a.b`"),
        ("1", "tsql", "[1]"),
    ],
)
def test_what_is_no_plain_name_is_one_quoted_column(text: str, dialect: str, written: str) -> None:
    assert column(text, dialect, "qi") == f"audited.{written}"


@pytest.mark.parametrize(
    ("text", "dialect", "written"),
    [
        ("(substr(zip, 1, 3))", "postgres", "(SUBSTR(audited.zip, 1, 3))"),
        ("(year(birth))", "tsql", "(YEAR(audited.birth))"),
        ('("Age" + "b-c")', "duckdb", '(audited."Age" + audited."b-c")'),
        ("(a) + (b)", "duckdb", "(audited.a) + (audited.b)"),
        ("(oid || zip)", "postgres", "(audited.oid || audited.zip)"),
        ("(home.zip)", "bigquery", "(audited.home.zip)"),
        ("(list_sum(list_transform(x, y -> y + z)))", "duckdb", ""),
    ],
)
def test_the_columns_of_an_expression_are_those_of_the_rows(text: str, dialect: str, written: str) -> None:
    found = column(text, dialect, "qi")
    assert found == written or (not written and "audited.x" in found and "audited.z" in found and ".y" not in found)


@pytest.mark.parametrize(
    ("text", "dialect", "written"),
    [
        ("Visits of 2020", "snowflake", '"Visits of 2020"'),
        ("main.visits-2020", "bigquery", "main.`visits-2020`"),
        ('dev."it\'s.here"', "tsql", "dev.[it's.here]"),
        ("order", "postgres", '"order"'),
        ('"dev"."people"', "duckdb", '"dev"."people"'),
        ("t; drop table t", "duckdb", '"t; drop table t"'),
    ],
)
def test_the_names_of_tables_are_quoted_where_they_have_to_be(text: str, dialect: str, written: str) -> None:
    assert source(Target(text), dialect) == f"{written} AS audited"


def test_exact_names_are_quoted() -> None:
    (one,) = compile_checks(Target("t"), Roles(("Age",)), ["k=2"], dialect="snowflake", exact_names=True)
    assert 'audited."Age") AS q1' in one.sql


@pytest.mark.parametrize("text", ["(age); drop table (t)", "(select 1)", "(count(*))", "(1)", "('zip')", "", " "])
def test_what_is_no_column(text: str) -> None:
    with pytest.raises(UsageError, match=r"^qi"):
        column(text, "postgres", "qi")


@pytest.mark.parametrize("name", ["a.b.c.d.e f", "a..b", '"a', ""])
def test_what_is_no_table(name: str) -> None:
    with pytest.raises(UsageError):
        source(Target(name), "postgres")


def test_a_query_and_a_condition_are_guarded() -> None:
    assert (
        source(Target("t", where="a > 1"), "bigquery") == "(SELECT * FROM t AS audited WHERE audited.a > 1) AS audited"
    )
    with pytest.raises(UsageError, match="SELECT"):
        source(Target(query="delete from t"), "postgres")


@pytest.mark.parametrize(
    ("check", "inputs", "reason"),
    [
        ("disclosure@4=0.5", {}, "k up to 3"),
        ("pd_recursive=c:2,l:2", {"dont_care": ["x"]}, "dont_care name sensitive values"),
        ("t_closeness_hierarchical=0.3", {"tree": {"a": ["x", "y"]}}, "tree name sensitive values"),
        ("l_categorical_diversity=2", {"categories": {"a": ["x"]}}, "cover"),
        ("belief=0.5", {"population": "p", "original_qi": ["a"]}, "decided exactly in Python"),
        ("range=2", {"class_function": {"x": 1}}, "identity"),
        ("k_map=2", {}, "needs population"),
    ],
)
def test_what_one_statement_cannot_carry(check: str, inputs: dict[str, object], reason: str) -> None:
    with pytest.raises(NotCarried, match=reason):
        compile_checks(Target("t"), Roles(("a",), ("s",)), [check], inputs=inputs)


def test_wildcards_and_populations_with_apart_nulls_are_refused() -> None:
    with pytest.raises(NotCarried, match="overlap"):
        compile_checks(Target("t"), Roles(("a",), nulls=NullPolicy.WILDCARD), ["k=2"])
    with pytest.raises(NotCarried, match="rules out"):
        compile_checks(Target("t"), Roles(("a",), nulls=NullPolicy.DISTINCT), ["k_map=2"], inputs=INPUTS)
    with pytest.raises(UsageError, match="sensitive"):
        compile_checks(Target("t"), Roles(("a",)), ["l=2"])


def test_without_checks_refusals_stand_in_the_script() -> None:
    compiled = compile_checks(Target("t"), Roles(("a",), ("s",)), dialect="redshift")
    text = script(compiled, Target("t"), "1")
    written = [one.model for one in compiled if one.sql]
    assert len(written) == 16
    assert f"-- sqlaudit 1: {len(written)} checks of t for Redshift." in text
    assert "Not executed: the tests have no Redshift." in text
    assert "-- t_closeness_hierarchical of s is not here. t_closeness_hierarchical: tree name sensitive values" in text
    trees = [tree for tree in sqlglot.parse(text, dialect="redshift") if isinstance(tree, exp.Select)]
    assert len(trees) == len(written)


def test_ways_to_write_a_number_as_a_sum() -> None:
    assert [len(partitions(n)) for n in range(7)] == [1, 1, 2, 3, 5, 7, 11]
    assert all(sum(parts) == 6 and parts == sorted(parts, reverse=True) for parts in partitions(6))


def test_two_sets_of_atoms_on_one_class_never_raise_the_product() -> None:
    """What lets the statement look at each number of atoms by itself: M(i + j) is at most M(i) M(j)."""
    for size in range(1, 8):
        for counts in partitions(size):
            least = [_least(counts, atoms) for atoms in range(6)]
            assert all(least[i + j] <= least[i] * least[j] for i in range(6) for j in range(6 - i)), counts


def _least(counts: list[int], atoms: int) -> Fraction:
    """M(j) of a class straight from its definition."""
    n = sum(counts)
    found = []
    for parts in partitions(atoms):
        if len(parts) > n:
            continue
        product = Fraction(1)
        for place, part in enumerate(parts):
            product *= Fraction(max(0, n - place - sum(counts[:part])), n - place)
        found.append(product)
    return min(found)


def test_the_command_writes_a_script(tmp_path: object) -> None:
    ran = run(
        "compile", "--dialect", "trino", "--table", "s.t", "--qi", "age,zip", "--sensitive", "d", "k=5", "t_closeness"
    )
    assert ran.code == 0
    assert "-- sqlaudit" in ran.out
    assert ran.out.count("WITH target AS (") == 2
    assert "level_t" in ran.out
    assert ran.out.count(" AS verdict") == 1


def test_the_command_says_what_is_wrong() -> None:
    for arguments, said in [
        (("--qi", "a", "k=5"), "No table is given. Name it with --table"),
        (("--table", "t", "k=5"), "No quasi-identifiers are named"),
        (("--table", "t", "--qi", "a", "--dialect", "snowflak", "k=5"), "Did you mean 'snowflake'?"),
        (("--table", "t", "--qi", "a", "kk=5"), "There is no privacy model"),
        (("--table", "t", "--query", "select 1", "--qi", "a"), "No table is given. Name it with --table"),
    ]:
        ran = run("compile", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err
