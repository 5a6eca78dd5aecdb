"""Write the generated macros of the dbt package from the templates: python docs/make_dbt.py [--check | --hub FOLDER]

A check is rendered as `sqlaudit compile` renders it, except that names of columns and limits are not known yet:
limits are marker numbers, which dbt's expressions replace afterwards, and names are dbt's expressions from the
beginning. So the text of a check is the same in both lives, and `--check` says whether the files are what the templates
make of them. `--hub` writes the package as a repository of its own.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from sqlaudit.base.spec import Requirement
from sqlaudit.base.sql import environment, template_folder
from sqlaudit.classes.facts import Fact
from sqlaudit.gates.standalone.names import by_letters, folded, nested, unsure
from sqlaudit.gates.standalone.recipes import Recipe, partitions, piece, recipe_of
from sqlaudit.models.base import BAND, Model, Parameter
from sqlaudit.models.belief import MAX_ALONE
from sqlaudit.models.diversity import head
from sqlaudit.models.registry import CELL_RULES, OF_SYNTHETIC, REGISTRY

ADAPTERS = {
    "athena": "trino",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "duckdb": "duckdb",
    "mariadb": "mysql",
    "mysql": "mysql",
    "postgres": "postgres",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "spark": "spark",
    "sqlite": "sqlite",
    "sqlserver": "tsql",
    "trino": "trino",
}
"""Adapters of dbt by their dialect. Databricks is a Spark to dbt, and Fabric an SQL Server."""
UNKNOWN = (
    '{{ exceptions.raise_compiler_error("sqlaudit: it is not known how this warehouse folds values; say values: exact, '
    'which counts them as they are written") }}'
)
FOLDER = template_folder() / "dbt" / "macros" / "checks"
SHARED = ("classes/_rows.sql", "gates/standalone/_written_out.sql", "gates/standalone/_standalone_persons.sql")
DESCRIPTIONS = "descriptions.yml"
HEAD = "{#- Made by docs/make_dbt.py from {sources}: change those, and run it again. -#}\n"
TYPES = {
    "AS DOUBLE)": "AS {{ sqlaudit.type_of_floats() }})",
    "AS BIGINT)": "AS {{ sqlaudit.type_of_counts() }})",
    "DECIMAL(38, 0)": "{{ sqlaudit.type_of_products() }}",
}
GIVEN = "side.source, side.columns, side.key, side.entity"
"""What of a test the macros of its relations take."""
DEFAULTS = ["entity=none", "nulls='equal'", "known_rows='worse'", "show_values=false", "values=none"]
LAST = "entity, nulls, known_rows, show_values, values"
"""What every test of classes takes last."""
WITH = "WITH {{ side.relations }}"
"""How the statement for one side begins."""
PERSONS = "{{ sqlaudit.unread('target', 'e', values, model, entity, listed) }}"
"""How many persons rule a test out."""
COLUMNS = ["class_size", "n_records"]
"""Figures of every failing class."""
WHOLE, NUMERATOR, DENOMINATOR = 900001, 900007, 900011
"""Primes that nothing else in a statement is; the decimal marker is NUMERATOR/DENOMINATOR, between 0 and 1."""


@dataclass(frozen=True)
class Test:
    """A generic test.

    Args:
        name: of the model in the registry. arguments: its parameters in order, with defaults as dbt has them.
        whole: a parameter that is a whole number and has a marker. decimal: the exact one.
        trivial: a whole number below which nothing fails, so that no facts are asked for.
    """

    name: str
    arguments: Sequence[str]
    whole: str = ""
    decimal: str = ""
    trivial: int = 0

    @property
    def by_value(self) -> bool:
        """Whether it takes a sensitive column."""
        return REGISTRY[self.name].needs_sensitive


TESTS = (
    Test("k_anonymity", ["k"], whole="k"),
    Test("alpha_k_anonymity", ["alpha", "k=1"], whole="k", decimal="alpha"),
    Test("distinct_l_diversity", ["l"], whole="l"),
    Test("entropy_l_diversity", ["l"], decimal="l"),
    Test("recursive_c_l_diversity", ["c", "l=2"], whole="l", decimal="c", trivial=2),
    Test("t_closeness", ["t"], decimal="t"),
    Test("t_closeness_ordered", ["t"], decimal="t"),
    Test("basic_beta_likeness", ["beta"], decimal="beta"),
    Test("enhanced_beta_likeness", ["beta"], decimal="beta"),
    Test("delta_disclosure_privacy", ["delta"], decimal="delta"),
    Test("c_k_safety", ["c", "k=3"], decimal="c"),
)

PERSON_TESTS = ("km_anonymity", "profile_k_anonymity")
OWN_LIMITS = {
    "column_sets": (
        Parameter("k", "integer", "smallest class size allowed", 2),
        Parameter("max_size", "integer", "largest number of columns in a set", 1),
        Parameter("tolerance", "decimal", "largest share of rows allowed in smaller classes", 0, 1),
    ),
    "linkage": (Parameter("k", "integer", "fewest rows allowed, where there are some", 2),),
    "no_differencing": (Parameter("n", "integer", "smallest change allowed", 2),),
}
"""Limits of tests that are no model of the registry."""
OWN_TESTS = {
    "all_columns_have_roles": "Every column has a role, in the arguments or in meta.",
    "column_sets": "No set of columns puts more than the share tolerance of the rows into classes smaller than k.",
    "linkage": "No class has some, but fewer than k rows of the reference.",
    "no_differencing": "No cell changed by 1 to n - 1 since an older release.",
}
OTHER_NAMES = {"min_contributors": "threshold"}
"""The models of tests that are called otherwise."""
ARGUMENTS = {
    "quasi_identifiers": "columns, or SQL expressions over columns",
    "sensitive": "the sensitive column; without it the column that the test belongs to",
    "entity": "the column that identifies the person; sizes then count people",
    "nulls": "equal, or distinct: each row with a missing quasi-identifier is a class of its own",
    "known_rows": "which attacker is covered: one (row of a person), all, or the worse of both",
    "show_values": "whether the keys of failing classes are shown",
    "values": "fold or exact: whether values that differ only in case, blanks or invisible characters are one",
    "population": "the model of the population",
    "reference": "the model that is matched",
    "original": "the model that the synthetic table was made from",
    "before": "the model of the older release",
    "identifiers": "columns that identify directly",
    "insensitive": "columns that need no other role",
    "columns": "the columns that are compared",
    "contributors": "the column of contributors",
    "value": "the column of values",
    "count": "the column of counts",
    "largest": "the columns of the largest contributions, largest first",
    "by": "the dimensions",
    "total": "the name of totals",
    "hidden": "marks of hidden cells",
    "hidden_cells": "refuse or ignore",
    "other_cells": "refuse or ignore",
    "zeros": "whether cells without contributors fail",
}
"""Arguments of tests that are no limits."""


def files() -> Iterator[tuple[str, str]]:
    """Every generated file: its name and text."""
    for test in TESTS:
        yield f"{test.name}.sql", HEAD.replace("{sources}", "the templates of standalone checks") + macro_of(test)
    yield (
        "k_map.sql",
        HEAD.replace("{sources}", "the templates of standalone checks")
        + population_macro("k_map", "population", ("fewer_people", "more_than_population")),
    )
    yield (
        "linkage.sql",
        HEAD.replace("{sources}", "the templates of standalone checks")
        + population_macro("linkage", "reference", ("matched_by_few",)),
    )
    yield "limits.sql", HEAD.replace("{sources}", "the registry of models") + limits_macro()
    yield "foldings.sql", HEAD.replace("{sources}", "sqlaudit/gates/standalone/names.py") + folding_macros()
    yield "written_out.sql", HEAD.replace("{sources}", " and ".join(SHARED)) + shared_macros()


def limits_macro() -> str:
    """The bounds of each limit, by test and parameter."""
    models: dict[str, type[Model]] = {name: REGISTRY[name] for name in (*(test.name for test in TESTS), "k_map")}
    models |= {name: REGISTRY[name] for name in PERSON_TESTS} | dict(OF_SYNTHETIC)
    models |= {"min_contributors": CELL_RULES["threshold"], "dominance": CELL_RULES["dominance"]}
    limits = {name: model.parameters for name, model in models.items()} | OWN_LIMITS
    lines = ["{% macro bounds_of(test) %}{{ return({"]
    for test, parameters in limits.items():
        bounds = {
            one.name: {"least": one.minimum, "most": one.maximum, "help": one.help}
            for one in parameters
            if one.kind != "text"
        }
        lines.append(f"    {test!r}: {str(bounds).replace('None', 'none')},")
    return "\n".join([*lines, "}[test]) }}{% endmacro %}", ""])


def descriptions(generated: Sequence[str]) -> str:
    """What dbt's docs say of each test, and of its arguments."""
    models = {**REGISTRY, **OF_SYNTHETIC, **CELL_RULES}
    macros: list[dict[str, Any]] = []
    texts = [*generated, *(path.read_text(encoding="utf-8") for path in FOLDER.parent.glob("support/*.sql"))]
    for name, taken in sorted(found for text in texts for found in re.findall(r"{% test (\w+)\((.*?)\) -%}", text)):
        model = models.get(OTHER_NAMES.get(name, name))
        helps = {one.name: one.help for one in OWN_LIMITS.get(name, model.parameters if model else ())}
        given = [part.partition("=")[0] for part in taken.split(", ")]
        arguments = [
            {"name": one, "description": ARGUMENTS.get(one) or helps.get(one) or ARGUMENTS[one.partition("_")[2]]}
            for one in given
            if one not in ("model", "column_name")
        ]
        said = f"{model.title}: {model.definition}" if model else OWN_TESTS[name]
        macros.append({"name": f"test_{name}", "description": said, "arguments": arguments})
    listed = (
        yaml.safe_dump(one, sort_keys=False, allow_unicode=True, default_flow_style=True, width=10**6) for one in macros
    )
    return "".join(["version: 2\nmacros:\n", *(f"  - {one}" for one in listed)])


def folding_macros() -> str:
    """How each adapter folds a value and tells letters apart; others refuse what they cannot fold."""
    writers: Mapping[str, Callable[[str, str], str]] = {
        "letters_of": by_letters,
        "folded": folded,
        "unsure": unsure,
        "nested": nested,
    }
    lines = []
    for name, write in writers.items():
        called = f"adapter.dispatch('{name}', 'sqlaudit')(value)"
        lines.append(f"{{% macro {name}(value) %}}{{{{ return({called}) }}}}{{% endmacro %}}")
        for adapter, dialect in ADAPTERS.items():
            sql = write("{{ value }}", dialect)
            lines.append(f"{{% macro {adapter}__{name}(value) -%}}{sql}{{%- endmacro %}}")
        default = "" if name == "letters_of" else UNKNOWN
        lines += [f"{{% macro default__{name}(value) -%}}{default}{{%- endmacro %}}", ""]
    return "\n".join(lines)


def shared_macros() -> str:
    """The macros that the package shares with standalone statements, as dbt writes them.

    There macros are called by the package's name, types are the warehouse's, and a line with nothing but a tag stays.
    """
    text = "\n".join((template_folder() / name).read_text(encoding="utf-8") for name in SHARED)
    text = re.sub(r"(?m)^\{% from .*\n", "", text)
    names = "|".join(re.findall(r"\{% macro (\w+)", text))
    text = re.sub(rf"(?<![\w.])(?<!macro )(?=(?:{names})\()", "sqlaudit.", text)
    text = re.sub(r"(?m)^ *\{% (?!macro|endmacro)(.*) %\}$", r"{%- \1 %}", text)
    return typed(text.replace("{{ wide }}", TYPES["DECIMAL(38, 0)"])) + "\n"


def macro_of(test: Test) -> str:
    """A test with the macro of its SQL."""
    taken = [*(["sensitive"] if test.by_value else []), *test.arguments]
    sensitive = "sensitive" if test.by_value else "none"
    ordered = test.name == "t_closeness_ordered"
    lines = [
        *test_head(test),
        f"{{% macro default__{test.name}_sql(model, quasi_identifiers, {bare(taken)}, {LAST}) -%}}",
        *given_columns("model", "quasi_identifiers", "entity"),
        "{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}",
    ]
    if test.by_value:
        lines.append("{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}")
    if ordered:
        lines.append("{%- do sqlaudit.refuse_unordered(listed, sensitive, named) -%}")
    if test.whole:
        lines.append(f"{{%- set {test.whole} = sqlaudit.whole({test.whole}, '{test.name}', '{test.whole}') -%}}")
    if test.name == "c_k_safety":
        before, text, figures = disclosure_body()
    else:
        before = (
            [f"{{%- set {test.decimal} = sqlaudit.exact({test.decimal}, '{test.name}', '{test.decimal}') -%}}"]
            if test.decimal
            else []
        )
        text, figures = body(test)
    told = f"sqlaudit.read({sensitive}, values, true)" if test.by_value and not ordered else sensitive
    read = f"{told}, sqlaudit.read(entity, values)"
    of_side = f"known, known_rows, listed, model, quasi_identifiers, {read}, solo, show_values"
    return "\n".join(
        [
            *lines,
            *before,
            "{%- set statements = [] -%}",
            "{%- for known in sqlaudit.rows_known(entity, known_rows) -%}",
            f"{{%- set side = sqlaudit.side({of_side}) -%}}",
            "{%- set statement -%}",
            *text,
            "{%- endset -%}",
            "{%- do statements.append(statement) -%}",
            "{%- endfor -%}",
            f"{{{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, {figures}) }}}}",
            "{%- endmacro %}",
            "",
        ]
    )


def given_columns(relation: str, names: str, entity: str, listed: str = "listed") -> list[str]:
    """Look up the columns that a test names in what it is about."""
    return [
        f"{{%- set {listed} = sqlaudit.columns_of({relation}) -%}}",
        f"{{%- set {names} = sqlaudit.columns_named({listed}, {names}, 'quasi_identifiers') -%}}",
        f"{{%- set {entity} = sqlaudit.entity_named({listed}, {entity}) -%}}",
    ]


def test_head(test: Test) -> list[str]:
    """The generic test: a sensitive column may be named, or be the column that the test stands under."""
    later = ["sensitive=none", "column_name=none"] if test.by_value else []
    arguments = ["quasi_identifiers", *test.arguments, *later, *DEFAULTS]
    given = ["sqlaudit.sensitive_column(sensitive, column_name)"] if test.by_value else []
    passed = ["model", "quasi_identifiers", *given, bare(test.arguments), LAST]
    return [
        f"{{% test {test.name}(model, {', '.join(arguments)}) -%}}",
        f"{{{{ adapter.dispatch('{test.name}_sql', 'sqlaudit')({', '.join(passed)}) }}}}",
        "{%- endtest %}",
        "",
    ]


def bare(arguments: Sequence[str]) -> str:
    """Names of arguments without their defaults."""
    return ", ".join(argument.partition("=")[0] for argument in arguments)


def body(test: Test) -> tuple[list[str], str]:
    """The SQL of a test, its limits and names as expressions of dbt, and an expression for the columns that it has."""
    text, columns = statement(test, {test.whole: WHOLE} if test.whole else {})
    if not test.trivial:
        return [text], str(columns)
    without, fewer = statement(test, {test.whole: test.trivial - 1})
    lines = [f"{{%- if {test.whole} < {test.trivial} %}}", without, "{%- else %}", text, "{%- endif %}"]
    return lines, f"{fewer} if {test.whole} < {test.trivial} else {columns}"


def statement(test: Test, whole: Mapping[str, int]) -> tuple[str, list[str]]:
    """The statement for one value, or the marker, of the whole number; and its columns."""
    parameters: dict[str, int | Fraction] = {**whole}
    if test.decimal:
        parameters[test.decimal] = Fraction(NUMERATOR, DENOMINATOR)
    recipe, with_persons = both(Requirement(test.name, parameters), "s" if test.by_value else None)
    is_trivial = whole.get(test.whole, test.trivial) < test.trivial
    figures = level_of_class(recipe) if test.by_value and not is_trivial else []
    spoken = " ".join([recipe.failing, recipe.doubtful, *(shown for _, shown in figures)])
    facts = [fact for fact in recipe.facts if re.search(rf"\b{fact.name}\b", spoken)]
    uses = [use for use in recipe.uses if use != "positions" or any(fact.macro == "head" for fact in facts)]
    if test.by_value:
        relations = f"{block('facts', listed(facts))}{WITH}{{{{ sqlaudit.class_facts({GIVEN}, facts, {uses}) }}}}\n"
    else:
        relations = f"{WITH}{{{{ sqlaudit.class_sizes({GIVEN}) }}}}\n"
    text = with_expressions(relations + ending(recipe, with_persons, figures), test)
    return text, [*COLUMNS, *(name for name, _ in figures)]


def disclosure_body() -> tuple[list[str], list[str], str]:
    """Maximum disclosure for any number of atoms, in loops of dbt: what comes before, the SQL, its columns."""
    splits = [partitions(atoms) for atoms in range(1, MAX_ALONE + 2)]
    fact = listed([head(WHOLE)]).replace(str(WHOLE), "{{ rank }}")
    failing, doubtful = (
        f"{{{{ sqlaudit.{name}(atoms, c, c.low, c.high) }}}}" for name in ("reaches_ratio", "near_ratio")
    )
    recipe, with_persons = both(Requirement("c_k_safety", {"c": Fraction(1, 2), "k": 0}), "s")
    recipe = replace(recipe, failing=failing, doubtful=doubtful)
    before = [
        "{%- do sqlaudit.refuse_knowledge(k) -%}",
        "{%- set c = sqlaudit.ratio_limit(c) -%}",
        "{%- set atoms = k | int + 1 -%}",
        f"{{%- set partitions = {splits}[:atoms] -%}}",
    ]
    text = [
        block("facts", f"{{%- for rank in range(1, atoms + 1) %}}{fact}{{%- endfor %}}")
        + f"{WITH}{{{{ sqlaudit.class_facts({GIVEN}, facts, ['positions']) }}}},",
        "{{ sqlaudit.disclosure_relation(side.key, atoms, partitions) }}",
        typed(ending(recipe, with_persons, [("level_disclosure", piece("disclosure"))])),
    ]
    return before, text, str([*COLUMNS, "level_disclosure"])


def both(requirement: Requirement, sensitive: str | None) -> tuple[Recipe, Recipe]:
    """The recipe of a requirement, where rows are persons and where they belong to persons."""
    without, with_persons = (recipe_of(requirement, {}, sensitive, entity=entity) for entity in (False, True))
    with_persons = replace(with_persons, unusable=(*with_persons.unusable, PERSONS))
    if not without.by_value:
        return without, with_persons
    ordered = ", true" if without.ordered else ""
    values: tuple[str, ...] = (f"{{{{ sqlaudit.unread_values(values, model, sensitive, listed{ordered}) }}}}",)
    if without.ordered:
        values = (*values, "{{ sqlaudit.rows_without_order(listed) }}")
    return replace(without, unusable=values + without.unusable), replace(
        with_persons, unusable=values + with_persons.unusable
    )


def block(name: str, text: str) -> str:
    """A text as a variable of dbt."""
    return f"{{%- set {name} %}}{text}\n{{%- endset %}}\n"


def listed(facts: Sequence[Fact]) -> str:
    """Facts of a class as columns."""
    given = {"dialect": "dbt", "wide": TYPES["DECIMAL(38, 0)"], "form": "windows", "total": "total", "facts": facts}
    module: Any = environment().get_template("gates/standalone/_standalone.sql").make_module(given)
    return str(module.listed(facts, []))


def level_of_class(recipe: Recipe) -> list[tuple[str, str]]:
    """The model's number for one class."""
    name, aggregate = recipe.levels[0]
    return [(f"level_{name}", aggregate[aggregate.index("(") + 1 : -1])]


def ending(
    recipe: Recipe, with_persons: Recipe, figures: Sequence[tuple[str, str]], keep: str = "{{ side.shown }}"
) -> str:
    """What is reported, from the relations of a test, where rows may belong to persons."""
    return (
        environment()
        .get_template("gates/standalone/standalone_failing.sql")
        .render(
            keep=keep,
            figures=list(figures),
            of_persons=with_persons.unusable[len(recipe.unusable) :],
            **recipe.parameters(),
        )
        .rstrip()
    )


def with_expressions(sql: str, test: Test) -> str:
    """The SQL with dbt's expressions in the place of markers and types."""
    name, whole = test.decimal, test.whole
    limit = Fraction(NUMERATOR, DENOMINATOR)
    marks: dict[str, str] = {}
    if name:
        marks[str(float(limit) - BAND)] = f"{{{{ {name}.low }}}}"
        marks[str(float(limit) + BAND)] = f"{{{{ {name}.high }}}}"
        marks[str(limit.numerator + limit.denominator)] = f"{{{{ {name}.numerator + {name}.denominator }}}}"
        marks[str(limit.numerator)] = f"{{{{ {name}.numerator }}}}"
        marks[str(limit.denominator)] = f"{{{{ {name}.denominator }}}}"
    if whole:
        marks[str(WHOLE)] = f"{{{{ {whole} }}}}"
        marks[str(WHOLE - 1)] = f"{{{{ {whole} - 1 }}}}"
    for mark, expression in marks.items():
        sql = sql.replace(mark, expression)
    left = re.findall(r"(?<!\d)(?:90|180)\d{4}(?!\d)", sql)
    assert not left, f"{test.name}: {left} is left"
    return typed(sql)


def population_macro(name: str, other: str, conditions: Sequence[str]) -> str:
    """The macro of a test that compares the model with a population or a reference."""
    limits = {"fewer_people": {"k": "{{ k }}"}, "matched_by_few": {"k": "{{ k }}"}}
    failing = " OR ".join(piece(each, **limits.get(each, {})) for each in conditions)
    recipe = Recipe(population=True, failing=failing, where=piece("met"))
    nameless = piece("count_where", relation="target", condition="e IS NULL")
    of_population = PERSONS.replace("target", "population").replace(
        "model, entity, listed", "population, other_entity, listed_others"
    )
    with_persons = replace(recipe, unusable=(nameless, PERSONS, of_population))
    further = ["quasi_identifiers=none", "entity=none"]
    default = ["k=2" if name == "linkage" else "k"]
    taken = [
        other,
        *default,
        *(f"{other}_{argument}" for argument in further),
        "entity=none",
        "show_values=false",
        "values=none",
    ]
    passed = f"model, quasi_identifiers, {bare(taken)}"
    lines = [
        f"{{% test {name}(model, quasi_identifiers, {', '.join(taken)}) -%}}",
        f"{{{{ adapter.dispatch('{name}_sql', 'sqlaudit')({passed}) }}}}",
        "{%- endtest %}",
        "",
        f"{{% macro default__{name}_sql({passed.replace(other, 'population')}) -%}}",
        "{%- set others = population_quasi_identifiers or quasi_identifiers -%}",
        "{%- set other_entity = population_entity if population_entity is not none else entity -%}",
        *given_columns("model", "quasi_identifiers", "entity"),
        *given_columns("population", "others", "other_entity", "listed_others"),
        "{%- do sqlaudit.refuse_other_length(quasi_identifiers, others) -%}",
        f"{{%- set k = sqlaudit.whole(k, '{name}', 'k') -%}}",
        "{%- set keys = sqlaudit.with_letters(quasi_identifiers) -%}",
        "{%- set person, other = sqlaudit.read(entity, values), sqlaudit.read(other_entity, values) -%}",
        "{%- set columns = sqlaudit.target_columns(keys, none, person, false) -%}",
        "{%- set population_columns = sqlaudit.target_columns(sqlaudit.with_letters(others), none, other, false) -%}",
        "{%- set key = sqlaudit.key_columns(keys, false) -%}",
        "{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}",
        "WITH {{ sqlaudit.population_sizes"
        "(model, columns, population, population_columns, key, entity, other_entity) }}",
        typed(ending(recipe, with_persons, [("people", "population_size")], "{{ shown }}")),
        "{%- endmacro %}",
        "",
    ]
    return "\n".join(lines)


def typed(sql: str) -> str:
    """The SQL with types that dbt chooses for the warehouse."""
    for written, expression in TYPES.items():
        sql = sql.replace(written, expression)
    return sql.rstrip()


def write_repository(folder: Path) -> None:
    """Write the package with its licence: dbt's hub reads packages from the root of a repository."""
    shutil.copytree(template_folder() / "dbt", folder, dirs_exist_ok=True)
    shutil.copy(Path(__file__).parent.parent / "LICENSE", folder)


def main() -> int:
    """Write the files, or with --check say which are not what they should be."""
    if "--hub" in sys.argv:
        write_repository(Path(sys.argv[-1]))
        return 0
    made = dict(files())
    made[DESCRIPTIONS] = HEAD.replace("{#-", "#").replace(" -#}", "").format(sources="macros and models")
    made[DESCRIPTIONS] += descriptions([*made.values()])
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.*")}
    if "--check" in sys.argv:
        stale = sorted(name for name in {*made, *found} if made.get(name) != found.get(name))
        if stale:
            sys.stderr.write(f"not what docs/make_dbt.py writes: {', '.join(stale)}\n")
        return 1 if stale else 0
    for name in found.keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
