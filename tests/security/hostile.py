"""What somebody might write who means harm, or slips: texts, SQL, YAML, cells, scripts, bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml
from hypothesis import strategies as st

from tests.security.world import COLUMNS, HIERARCHIES, INPUTS, MARK, POLICY

Texts = st.SearchStrategy[str]

FRAGMENTS = (
    "'",
    '"',
    '""',
    "''",
    ";",
    "--",
    "/*",
    "*/",
    "\\",
    "`",
    "$$",
    "$1",
    "?",
    "%s",
    "%(x)s",
    "{0}",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "{#",
    "}}",
    "[[",
    "]]",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "..",
    "../",
    "/",
    "~",
    "*",
    "?*",
    "|",
    "&",
    "#",
    "!",
    "\x00",
    "\n",
    "\r\n",
    "\t",
    "\x1b[31m",
    "\x1b]0;x\x07",
    "\u202e",
    "\u2028",
    "\u200b",
    "\ufeff",
    "\ud800",
    "é",
    "😀",
    "ß",
    "İ",
    "NULL",
    "null",
    "true",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "-0",
    "0x1F",
    "1_000",
    "١٢",
    "9" * 25,
    "0." + "0" * 40 + "1",
    "DROP TABLE people",
    "DELETE FROM planted",
    "INSERT INTO people VALUES (1)",
    "UPDATE people SET age = 1",
    "CREATE TABLE pwned (a INT)",
    "COPY people TO 'pwned.csv'",
    "ATTACH 'pwned.duckdb' AS pwned",
    "PRAGMA database_list",
    "EXPORT DATABASE 'pwned'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET lock_configuration = false",
    "CALL pg_catalog()",
    "SELECT * FROM planted",
    "(SELECT word FROM planted)",
    "read_csv('planted.csv')",
    "read_text('planted.csv')",
    "glob('*')",
    "getenv('HOME')",
    "duckdb_settings()",
    "pg_read_file('/etc/passwd')",
    "lo_import('/etc/passwd')",
    "pg_sleep(0)",
    "set_config('transaction_read_only', 'off', false)",
    "current_setting('temp_directory')",
    "COMMIT",
    "ROLLBACK",
    "planted.csv",
    "people.csv",
    "../planted.csv",
    "/etc/passwd",
    "*.csv",
    "file:///etc/passwd",
    "https://x.invalid/a.csv",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "&lt;",
    "=1+1",
    "@SUM(1)",
    "::error::x",
    "javascript:alert(1)",
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "UNION ALL",
    "WITH",
    "OVER ()",
    "count(*)",
    "lambda x: x",
    "CASE WHEN",
    "END",
    "age",
    "zip",
    "people",
    "born",
    "main.people",
    "released",
    "age = 20",
    "1 = 1",
    MARK + "flu",
)
SENTENCES = (
    "people",
    "people.csv",
    "people.parquet",
    "clinic.duckdb",
    "hierarchies.yml",
    "inputs.yml",
    "knowledge.yml",
    "released.csv",
    "queries.sql",
    "sqlaudit.yml",
)

texts: Texts = st.one_of(
    st.sampled_from(FRAGMENTS),
    st.text(max_size=12),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4)), min_size=1, max_size=5).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map(" ".join),
    st.integers(0, 400).map(lambda length: "(" * length + "age" + ")" * length),
    st.integers(1, 3).map(lambda times: "a" * 10**times),
)
columns: Texts = st.sampled_from(COLUMNS)
numbers: Texts = st.one_of(
    st.integers(-3, 60).map(str),
    st.sampled_from(
        [
            "0.5",
            "1%",
            "1e3",
            "1/3",
            "-1",
            "NaN",
            "inf",
            "1e999",
            "9" * 30,
            "0." + "0" * 400 + "1",
            "",
            "½",
            "1_0",
            "1e-400",
        ]
    ),
)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """SQL over the columns of a row, mostly well formed."""
    if depth == 0:
        return draw(
            st.one_of(columns, numbers, st.sampled_from(["NULL", "'x'", "TRUE", "DATE '2000-01-31'", "'it''s'"]))
        )
    one, two = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    forms = (
        f"({one} + {two})",
        f"{one} / {two}",
        f"{one} = {two}",
        f"{one} IS NOT NULL",
        f"NOT {one}",
        f"-{one}",
        f"{one} AND {two}",
        f"CASE WHEN {one} THEN {two} END",
        f"CAST({one} AS VARCHAR)",
        f"CAST({one} AS INTEGER)",
        f"TRY_CAST({one} AS DATE)",
        f"substr({one}, 1, 2)",
        f"least({one}, {two})",
        f"coalesce({one}, {two})",
        f"{one} IN ({two}, {one})",
        f"{one} || {two}",
        f"{one} BETWEEN {two} AND {one}",
        f"year({one})",
        f"floor({one})",
        f"{one} LIKE {two}",
        f"{one}::TEXT",
        f"{one} % {two}",
        f"EXISTS (SELECT {one} FROM planted)",
        f"sum({one})",
        f"{one} ->> 'a'",
        f"[{one}, {two}]",
        f"{{'a': {one}}}",
        f"{one}.{two}",
        f"(SELECT {one})",
        f"list_transform([{one}], lambda x: x)",
        f"ln({one})",
        f"repeat('a', {one})",
        f"pg_typeof({one})",
        f"{one} COLLATE nocase",
        f"ROW({one}, {two})",
        f"error({one})",
        f"random() < {one}",
        f"{one} /* {two}",
        f"{one} -- {two}",
        f"{one}; {two}",
        f"{one}, {two}",
        f"{one} FROM people",
        f"$${one}$$",
        f"interval {one}",
        f"{one}[{two}]",
        f"now() > {one}",
    )
    return draw(st.sampled_from(forms))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A SELECT, or what looks like one."""
    tables = (
        "people",
        "main.people",
        "released",
        "planted",
        "'people.csv'",
        '"people.parquet"',
        "planted.csv",
        "nowhere",
        "people p",
        "information_schema.tables",
        "pg_stat_activity",
        "duckdb_secrets()",
        "sqlite_master",
        "range(10)",
    )
    table = draw(st.sampled_from(tables))
    one, two = draw(expressions(2)), draw(expressions(1))
    forms = (
        f"SELECT * FROM {table}",
        f"SELECT {one} FROM {table}",
        f"SELECT * FROM {table} WHERE {one}",
        f"SELECT age, {one} AS zip FROM {table}",
        f"WITH w AS (SELECT * FROM {table}) SELECT * FROM w WHERE {one}",
        f"SELECT {one}, count(*) FROM {table} GROUP BY {one}",
        f"SELECT * FROM {table} UNION ALL SELECT * FROM {table}",
        f"SELECT * INTO pwned FROM {table}",
        f"FROM {table}",
        f"TABLE {table}",
        f"SELECT * FROM (SELECT {one} AS age FROM {table}) AS q",
        f"SELECT * FROM {table} FOR UPDATE",
        f"SELECT 1 AS age; SELECT {one}",
        f"WITH w AS (DELETE FROM {table} RETURNING *) SELECT * FROM w",
        f"SELECT * FROM {table} ORDER BY {one} LIMIT 5",
        f"(SELECT {one})",
        f"COPY (SELECT {one} FROM {table}) TO 'pwned.csv'",
        f"EXPLAIN ANALYZE DELETE FROM {table}",
        f"SELECT DISTINCT ON ({one}) * FROM {table}",
        f"SELECT * FROM {table} a JOIN {table} b ON {one}",
        f"SELECT a.*, {one} OVER () FROM {table} a",
        f"VALUES ({one}, {two})",
        f"SELECT * EXCLUDE (age) FROM {table}",
        f"PIVOT {table} ON sex USING count(*)",
        f"SELECT COLUMNS('a.*') FROM {table}",
        f"SELECT * FROM {table} TABLESAMPLE 10%",
        f"SELECT nextval('s') FROM {table}",
        f"DESCRIBE {table}",
        "SHOW TABLES",
        f"WITH RECURSIVE w AS (SELECT 1 AS age UNION ALL SELECT age + 1 FROM w WHERE age < 5) SELECT * FROM w, {table}",
        f"SELECT * FROM {table}, LATERAL (SELECT {one}) AS l",
        f"SELECT dblink_exec('x', 'DROP TABLE people') FROM {table}",
    )
    return draw(st.sampled_from(forms))


def mutated(text: str, pieces: Sequence[str] = FRAGMENTS) -> Texts:
    """A text in which up to four stretches were cut, doubled or replaced."""

    @st.composite
    def change(draw: st.DrawFn) -> str:
        result = text
        for _ in range(draw(st.integers(1, 4))):
            start = draw(st.integers(0, len(result)))
            end = min(len(result), start + draw(st.sampled_from([0, 0, 1, 2, 5, 20])))
            put = draw(
                st.one_of(st.sampled_from(pieces), st.text(max_size=3), st.just(result[start:end] * 2), st.just(""))
            )
            result = result[:start] + put + result[end:]
        return result

    return change()


LIMITS = (
    "k",
    "l",
    "t",
    "k_anonymity",
    "entropy_l",
    "recursive_l",
    "alpha_k",
    "delta",
    "disclosure@3",
    "beta",
    "m_invariance",
    "delta_presence",
    "k_map",
    "t_ordered",
    "p_sensitive_k",
    "unique",
    "average_risk",
)


@st.composite
def limits(draw: st.DrawFn) -> str:
    """A requirement: a model, and numbers that may not fit it."""
    name = draw(st.one_of(st.sampled_from(LIMITS), texts))
    value = draw(st.one_of(numbers, texts, st.tuples(numbers, numbers).map(lambda n: f"c:{n[0]},l:{n[1]}")))
    return name + draw(st.sampled_from(["=", "=", "=", ">=", ":", ""])) + value


words = st.one_of(columns, numbers, texts, st.sampled_from([MARK + "flu", MARK + "-130", "f"]))
values: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), words, st.dates(), st.just("")
)
trees = st.recursive(
    values, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4), max_leaves=12
)


def _document(keys: Sequence[str], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.one_of(st.sampled_from(keys), st.sampled_from(keys), texts), inner, max_size=5)


FORMS = ("widths", "origin", "low", "high", "mask", "dates", "csv", "tree", "values", "sql", "default", "keep")
_widths = st.lists(st.one_of(st.integers(-1, 40), st.floats(), words), max_size=4)
forms: st.SearchStrategy[Any] = st.one_of(
    trees,
    _document(FORMS, trees),
    st.builds(lambda w, low: {"widths": w, "low": low}, _widths, st.one_of(st.none(), numbers, st.floats())),
    st.builds(lambda m: {"mask": m}, st.one_of(_widths, _document(["keep"], _widths))),
    st.builds(
        lambda d: {"dates": d}, st.lists(st.sampled_from(["day", "month", "quarter", "year", "decade", "century", "x"]))
    ),
    st.builds(lambda s: {"sql": s}, st.lists(expressions(2), max_size=3)),
    st.builds(lambda s: {"csv": s}, st.one_of(texts, st.sampled_from(SENTENCES))),
    st.builds(lambda t: {"tree": t, "default": "other"}, trees),
)
hierarchies = st.dictionaries(st.one_of(columns, columns, texts), forms, min_size=1, max_size=3)

ROLES = (
    "quasi_identifiers",
    "sensitive",
    "identifiers",
    "entity",
    "nulls",
    "joint",
    "where",
    "query",
    "table",
    "requirements",
    "tags",
    "description",
    "connection",
    "severity",
    "inputs",
    "hierarchies",
    "columns",
    "name",
    "file",
    "depends_on",
)
_requirement = st.one_of(
    limits(),
    trees,
    _document([*LIMITS, "severity", "column_sets", "loss", "tags", "where"], st.one_of(numbers, trees)),
    _document(
        ["loss", "column_sets"],
        _document(["original", "measure", "of", "at_most", "max_size", "k", "share", "key"], words),
    ),
)
_table = st.one_of(
    _document(ROLES, trees),
    st.fixed_dictionaries(
        {
            "table": st.one_of(st.sampled_from(["people", "released", "people.csv"]), texts),
            "quasi_identifiers": st.lists(st.one_of(columns, expressions(1), texts), min_size=1, max_size=3),
            "requirements": st.lists(_requirement, min_size=1, max_size=3),
        },
        optional={
            "sensitive": st.lists(columns, max_size=2),
            "where": expressions(1),
            "tags": trees,
            "connection": words,
            "hierarchies": hierarchies,
            "inputs": trees,
            "nulls": words,
            "joint": values,
        },
    ),
)
_connection = st.one_of(
    st.just({"duckdb": "clinic.duckdb"}),
    _document(["duckdb", "env", "url", "service", "dbt_profile", "target", "password_env"], words),
)
policies = st.one_of(
    trees,
    _document(["version", "connections", "defaults", "tables", "x-a"], trees),
    st.fixed_dictionaries(
        {
            "version": st.sampled_from([1, 1, 1, 2, "1", None]),
            "connections": st.dictionaries(st.one_of(st.just("main"), texts), _connection, min_size=1, max_size=2),
            "tables": st.lists(_table, min_size=1, max_size=2),
        },
        optional={"defaults": _document(["connection", "nulls", "requirements", "severity", "tags"], trees)},
    ),
)

TAGS = (
    "&a ",
    "*a",
    "!!python/object/apply:os.system ['touch pwned']",
    "!!binary aGk=",
    "<<: *a",
    "? ",
    "- ",
    "|\n  ",
    "---\n",
    "...\n",
    "%YAML 9.9\n",
    "!!timestamp 2000-01-01",
    "!x ",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "0o17",
    "1:30",
    "~",
    "\t",
)


def as_yaml(tree: Any) -> str:
    """The tree as YAML."""
    return str(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False))


def documents(trees: st.SearchStrategy[Any], example: str) -> st.SearchStrategy[bytes]:
    """YAML files: trees of a shape, an example with changes, any text, any bytes."""
    changed = mutated(example, (*FRAGMENTS, *TAGS))
    nested = st.integers(1, 3000).map(lambda depth: "[" * depth)
    return st.one_of(
        trees.map(as_yaml).map(encoded),
        changed.map(encoded),
        changed.map(encoded),
        texts.map(encoded),
        nested.map(encoded),
        st.binary(max_size=30),
    )


def encoded(text: str) -> bytes:
    """The text as UTF-8, and surrogates as the bytes that no UTF-8 has."""
    return text.encode("utf-8", "surrogatepass")


policy_files = documents(policies, POLICY)
hierarchy_files = documents(hierarchies.map(lambda found: {"hierarchies": found}), HIERARCHIES)
input_files = documents(
    _document(
        [
            "categories",
            "dont_care",
            "must_occur",
            "order",
            "tree",
            "class_function",
            "width",
            "kappa",
            "alpha",
            "population",
            "original_qi",
            "person",
            "sensitive",
            "hierarchies",
        ],
        trees,
    ),
    INPUTS,
)
_atoms = st.dictionaries(
    st.sampled_from(["Ann", "Bob", "Cy"]), st.one_of(values, st.lists(values, max_size=2)), max_size=2
)
_rules = st.dictionaries(st.sampled_from(["if", "then", "never", "x"]), st.one_of(_atoms, trees), max_size=2)
_people = st.one_of(_document(COLUMNS, values), values)
knowledge_files = documents(
    st.one_of(
        _document(["people", "knowledge", "ask", "sensitive"], trees),
        st.fixed_dictionaries(
            {
                "people": st.dictionaries(st.sampled_from(["Ann", "Bob"]), _people, max_size=2),
                "knowledge": st.lists(_rules, max_size=3),
            },
            optional={"ask": _atoms},
        ),
    ),
    "people:\n  Ann: {age: 20, sex: f}\n  Bob: {age: 27, sex: m}\n"
    "knowledge:\n  - if: {Ann: Zq7flu}\n    then: {Bob: Zq7flu}\n"
    "  - never: {Ann: Zq7cold}\nask: {Ann: Zq7ulcer}\n",
)
hierarchy_tables = st.one_of(
    st.lists(
        st.lists(st.one_of(st.sampled_from(["20", "27", "34", "*", "", "[20, 30)", "x"]), texts), max_size=4).map(
            ";".join
        )
    )
    .map("\n".join)
    .map(encoded),
    st.binary(max_size=60),
    mutated("20;[20, 30);*\n27;[20, 30);*\n34;[30, 40);*\n").map(encoded),
)

CELLS = (
    "*",
    "**",
    "20-30",
    "[20-30)",
    "[20, 30)",
    "]20,30]",
    "<30",
    ">=40",
    "40+",
    "(-inf, 30)",
    "3*",
    "{20, 27}",
    '{"a, b", c}',
    "-10--5",
    "1,000",
    "[1,000,2,000)",
    "1e-3",
    "2024-Q1",
    "2024-02",
    "1980-1989",
    "[2020-01, 2020-04)",
    "<1980",
    "NaN",
    "inf",
    "20–30",
    "20..30",
    "20 to 30",
    "",
    " ",
    "[30, 20)",
    "{}",
    "{,}",
    "[,)",
    "9999-12-31",
    "0000-01",
    "2024-13",
    "2024-02-30",
    "[",
    "{",
    "]",
    "1e308",
    "-1e308",
    "[1e308, 2e308)",
    "9" * 40,
    "*" * 50,
    "999999-Q9",
)
cells: Texts = st.one_of(
    st.sampled_from(CELLS),
    st.sampled_from(CELLS),
    mutated("[20, 30)"),
    mutated("2024-02"),
    mutated("{20, 27}"),
    texts,
    st.builds(
        lambda o, a, s, b, c: f"{o}{a}{s}{b}{c}",
        st.sampled_from(["", "[", "(", "]", "{", "<", ">="]),
        numbers,
        st.sampled_from(["-", ", ", "..", " to ", ";", "–"]),
        numbers,
        st.sampled_from(["", "]", ")", "[", "}", "+"]),
    ),
)

_SCRIPT = (
    "\\d",
    "\\d people",
    "\\use people",
    "\\use SELECT * FROM people WHERE age > 30",
    "\\profile",
    "\\qi age sex",
    "\\sensitive disease",
    "\\entity person",
    "\\require k=5 l=2",
    "\\audit",
    "\\classes below 5",
    "\\disclosure 0..3",
    "\\columns 2",
    "\\lattice",
    "\\undo",
    "\\generalize age 10",
    "\\generalize zip 3",
    "\\drop sex",
    "\\add zip",
    "\\compile snowflake",
    "\\compile bigquery x.y",
    "\\sql",
    "\\values on",
    "\\format json",
    "\\timing",
    "\\?",
    "\\refresh",
    "\\compare released",
    "\\attack",
    "\\explain",
    "\\q",
    "SELECT * FROM people LIMIT 3;",
    "AUDIT people BY (age, sex) SENSITIVE disease REQUIRE k >= 2, t <= 0.9;",
    "AUDIT 'people.csv' BY (zip);",
    "AUDIT (SELECT age, sex FROM people) BY (age) ENTITY sex REQUIRE k = 2;",
    "SELECT count(*) FROM planted;",
    "FROM 'people.csv';",
)


@st.composite
def _audit_statements(draw: st.DrawFn) -> str:
    target = draw(
        st.one_of(st.sampled_from(["people", "'people.csv'", "released"]), queries().map(lambda q: f"({q})"), texts)
    )
    by = ", ".join(draw(st.lists(st.one_of(columns, expressions(1), texts), min_size=1, max_size=3)))
    require = draw(st.one_of(st.just(""), limits().map(lambda text: f" REQUIRE {text}")))
    return f"AUDIT {target} BY ({by}){require};"


_lines = st.one_of(
    st.sampled_from(_SCRIPT),
    st.sampled_from(_SCRIPT),
    st.sampled_from(_SCRIPT).flatmap(mutated),
    _audit_statements(),
    queries().map(lambda q: q + ";"),
    texts,
    st.builds(
        lambda c, rest: c.split()[0] + " " + rest,
        st.sampled_from([line for line in _SCRIPT if line[0] == "\\"]),
        st.one_of(texts, expressions(1), columns),
    ),
)
scripts: Texts = st.lists(_lines, min_size=1, max_size=6).map("\n".join)

_fields = st.one_of(
    st.sampled_from(
        ["", "1", "2.5", "a", "NULL", "NaN", "2024-01-31", '"q"', '"a,b"', '"', "é", "1e400", "9" * 40, "true", "x y"]
    ),
    texts,
)
csv_files = st.one_of(
    st.lists(st.lists(_fields, min_size=1, max_size=4).map(",".join), min_size=1, max_size=8)
    .map("\n".join)
    .map(encoded),
    st.tuples(
        st.sampled_from([b"age,zip\n", b"age;zip\r\n", b"\xef\xbb\xbfage\tzip\n", b"age,age\n", b"a,A\n", b""]),
        st.binary(max_size=60),
    ).map(b"".join),
    st.binary(max_size=80),
    st.sampled_from(["utf-16", "latin-1", "utf-32"]).map("age,zip\n1,é\n2,ß\n".encode),
)


def json_files(example: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """Stored results with changes: other values at a few places, or other characters."""

    def paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        return [path, *(found for key, value in inner for found in paths(value, (*path, key)))]

    places = paths(example)[1:]

    @st.composite
    def change(draw: st.DrawFn) -> bytes:
        result = json.loads(json.dumps(example))
        for path in draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)):
            node = result
            for key in path[:-1]:
                inside = (isinstance(node, dict) and key in node) or (
                    isinstance(node, list) and isinstance(key, int) and key < len(node)
                )
                node = node[key] if inside else None
            if isinstance(node, dict | list) and (isinstance(node, dict) or path[-1] < len(node)):
                node[path[-1]] = draw(trees)
        return json.dumps(result, default=str).encode("utf-8", "surrogatepass")

    return st.one_of(change(), change(), mutated(json.dumps(example)).map(encoded))
