"""Write the generated macros of the dbt package from the templates: python docs/make_dbt.py [--check]

A check is rendered as `sqlaudit compile` renders it, except that names of columns and limits are not known yet:
limits are marker numbers, which dbt's expressions replace afterwards, and names are dbt's expressions from the
beginning. So the text of a check is the same in both lives, and `--check` says whether the files are what the templates
make of them.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlaudit.base.spec import Requirement
from sqlaudit.base.sql import environment, template_folder
from sqlaudit.gates.standalone.pieces import piece
from sqlaudit.gates.standalone.recipes import RATIO_BAND, Recipe, recipe_of
from sqlaudit.models.base import BAND
from sqlaudit.models.registry import REGISTRY

FOLDER = template_folder() / "dbt" / "macros" / "checks"
HEAD = "{#- Made by docs/make_dbt.py from {sources}: change those, and run it again. -#}\n"
TYPES = {
    "AS DOUBLE)": "AS {{ sqlaudit.type_of_floats() }})",
    "AS BIGINT)": "AS {{ sqlaudit.type_of_counts() }})",
    "DECIMAL(38, 0)": "{{ sqlaudit.type_of_products() }}",
}
WHOLE, NUMERATOR, DENOMINATOR = 900001, 900007, 900011
"""Primes that nothing else in a statement is; the decimal marker is NUMERATOR/DENOMINATOR, between 0 and 1."""


@dataclass(frozen=True)
class Test:
    """A generic test.

    Args:
        name: of the model in the registry. arguments: its parameters in order, with defaults as dbt has them.
        whole: a parameter that is a whole number and has a marker. decimal: the exact one.
        cases: several bodies, by the condition under which dbt takes each (the last one needs none).
    """

    name: str
    arguments: Sequence[str]
    whole: str = ""
    decimal: str = ""
    cases: Mapping[str, Mapping[str, int]] | None = None

    @property
    def by_value(self) -> bool:
        """Whether it takes a sensitive column."""
        return REGISTRY[self.name].needs_sensitive


TESTS = (
    Test("k_anonymity", ["k"], whole="k"),
    Test("alpha_k_anonymity", ["alpha", "k=1"], whole="k", decimal="alpha"),
    Test("distinct_l_diversity", ["l"], whole="l"),
    Test("entropy_l_diversity", ["l"], decimal="l"),
    Test("recursive_c_l_diversity", ["c", "l=2"], whole="l", decimal="c", cases={"l | int < 2": {"l": 1}, "": {}}),
    Test("t_closeness", ["t"], decimal="t"),
    Test("t_closeness_ordered", ["t"], decimal="t"),
    Test("basic_beta_likeness", ["beta"], decimal="beta"),
    Test("enhanced_beta_likeness", ["beta"], decimal="beta"),
    Test("delta_disclosure_privacy", ["delta"], decimal="delta"),
    Test(
        "c_k_safety", ["c", "k=3"], decimal="c", cases={**{f"k | int == {k}": {"k": k} for k in range(3)}, "": {"k": 3}}
    ),
)


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
    pieces = (template_folder() / "gates/standalone/_written_out.sql").read_text(encoding="utf-8")
    yield "written_out.sql", HEAD.replace("{sources}", "gates/standalone/_written_out.sql") + pieces


def macro_of(test: Test) -> str:
    """A test with the macro of its SQL: a body for each case, with persons and without."""
    taken = [*(["sensitive"] if test.by_value else []), *test.arguments]
    sensitive = "sensitive" if test.by_value else "none"
    lines = [
        *test_head(test),
        f"{{% macro default__{test.name}_sql(model, quasi_identifiers, {bare(taken)}, entity, nulls, show_values) -%}}",
        "{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}",
        "{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}",
        f"{{%- set columns = sqlaudit.target_columns(quasi_identifiers, {sensitive}, entity, solo) -%}}",
        "{%- set key = sqlaudit.key_names(quasi_identifiers, solo) -%}",
        "{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}",
    ]
    if test.name == "t_closeness_ordered":
        lines.append("{%- do sqlaudit.refuse_text(model, sensitive) -%}")
    if test.name == "c_k_safety":
        lines.append("{%- do sqlaudit.refuse_knowledge(k) -%}")
    if test.whole:
        lines.append(f"{{%- set {test.whole} = sqlaudit.whole({test.whole}, '{test.whole}') -%}}")
    if test.decimal:
        exact = "ratio_limit" if test.name == "c_k_safety" else "exact"
        lines.append(f"{{%- set {test.decimal} = sqlaudit.{exact}({test.decimal}) -%}}")
    return "\n".join([*lines, *bodies(test), "{%- endmacro %}", ""])


def test_head(test: Test) -> list[str]:
    """The generic test: a sensitive column may be named, or be the column that the test stands under."""
    later = ["sensitive=none", "column_name=none"] if test.by_value else []
    arguments = ["quasi_identifiers", *test.arguments, *later, "entity=none", "nulls='equal'", "show_values=false"]
    given = ["sqlaudit.sensitive_column(sensitive, column_name)"] if test.by_value else []
    passed = ["model", "quasi_identifiers", *given, bare(test.arguments), "entity", "nulls", "show_values"]
    return [
        f"{{% test {test.name}(model, {', '.join(arguments)}) -%}}",
        f"{{{{ adapter.dispatch('{test.name}_sql', 'sqlaudit')({', '.join(passed)}) }}}}",
        "{%- endtest %}",
        "",
    ]


def bare(arguments: Sequence[str]) -> str:
    """Names of arguments without their defaults."""
    return ", ".join(argument.partition("=")[0] for argument in arguments)


def bodies(test: Test) -> Iterator[str]:
    """The SQL of each case, with the condition under which dbt takes it."""
    cases = test.cases or {"": {}}
    for number, (condition, fixed) in enumerate(cases.items()):
        if len(cases) > 1:
            word = "else" if not condition else f"{'if' if number == 0 else 'elif'} {condition}"
            yield f"{{%- {word} %}}"
        yield both(functools.partial(body, test, fixed))
    if len(cases) > 1:
        yield "{%- endif %}"


def both(render: Callable[[bool], str]) -> str:
    """A body with persons and one without, as dbt chooses between them."""
    with_persons, without = render(True), render(False)
    if with_persons == without:
        return without
    return f"{{%- if entity is not none %}}\n{with_persons}\n{{%- else %}}\n{without}\n{{%- endif %}}"


def body(test: Test, fixed: Mapping[str, int], entity: bool) -> str:
    """The SQL of a test, its limits and names as expressions of dbt."""
    parameters: dict[str, int | Fraction] = {}
    if test.whole:
        parameters[test.whole] = fixed.get(test.whole, WHOLE)
    if test.decimal:
        parameters[test.decimal] = Fraction(NUMERATOR, DENOMINATOR)
    parameters.update(fixed)
    sensitive = "s" if test.by_value else None
    recipe = recipe_of(Requirement(test.name, parameters), {}, sensitive, entity=entity)
    figures = level_of_class(test, parameters) if test.by_value and not recipe.atoms else disclosure_of_class(recipe)
    return with_expressions(rendered(recipe, figures, entity=entity), test)


def level_of_class(test: Test, parameters: Mapping[str, int | Fraction]) -> list[tuple[str, str]]:
    """The model's number for one class."""
    if parameters.get("l") == 1:
        return []
    recipe = recipe_of(Requirement(test.name, parameters), {}, "s", entity=False)
    name, aggregate = recipe.levels[0]
    return [(f"level_{name}", aggregate[aggregate.index("(") + 1 : -1])]


def disclosure_of_class(recipe: Recipe) -> list[tuple[str, str]]:
    """The class's own maximum disclosure."""
    return [("level_disclosure", piece("disclosure"))] if recipe.atoms else []


def rendered(recipe: Recipe, figures: Sequence[tuple[str, str]], *, entity: bool, population: bool = False) -> str:
    """The statement with dbt's expressions for names, and markers for limits."""
    spoken = " ".join([recipe.failing, recipe.doubtful, *(shown for _, shown in figures)])
    facts = [fact for fact in recipe.facts if re.search(rf"\b{fact.name}\b", spoken) or recipe.atoms]
    uses = [use for use in recipe.uses if use != "positions" or any(fact.macro == "head" for fact in facts)]
    asked = replace(recipe, facts=tuple(facts), uses=tuple(uses))
    return (
        environment()
        .get_template("gates/standalone/standalone_failing.sql")
        .render(
            dialect="dbt",
            wide=TYPES["DECIMAL(38, 0)"],
            source="{{ model }}",
            columns="{{ columns }}",
            key="{{ key }}",
            keep="{{ shown }}",
            entity="e" if entity else None,
            figures=list(figures),
            form="windows",
            total="total",
            population="{{ population }}" if population else None,
            population_columns="{{ population_columns }}",
            population_entity="e" if entity else None,
            **asked.parameters(),
        )
    )


def with_expressions(sql: str, test: Test) -> str:
    """The SQL with dbt's expressions in the place of markers and types."""
    name, whole = test.decimal, test.whole
    limit = Fraction(NUMERATOR, DENOMINATOR)
    marks: dict[str, str] = {}
    if test.name == "c_k_safety":
        limit = (1 - limit) / limit
        marks[str(float(limit) * (1 - RATIO_BAND))] = f"{{{{ {name}.low }}}}"
        marks[str(float(limit) * (1 + RATIO_BAND))] = f"{{{{ {name}.high }}}}"
    elif name:
        marks[str(float(limit) - BAND)] = f"{{{{ {name}.low }}}}"
        marks[str(float(limit) + BAND)] = f"{{{{ {name}.high }}}}"
    if name:
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
    figures = [("people", "population_size")]

    def one(entity: bool) -> str:
        unusable = (piece("count_where", relation="target", condition="e IS NULL"),) if entity else ()
        recipe = Recipe(population=True, failing=failing, where=piece("met"), unusable=unusable)
        return typed(rendered(recipe, figures, entity=entity, population=True))

    further = ["quasi_identifiers=none", "entity=none"]
    default = ["k=2" if name == "linkage" else "k"]
    taken = [other, *default, *(f"{other}_{argument}" for argument in further), "entity=none", "show_values=false"]
    passed = f"model, quasi_identifiers, {bare(taken)}"
    lines = [
        f"{{% test {name}(model, quasi_identifiers, {', '.join(taken)}) -%}}",
        f"{{{{ adapter.dispatch('{name}_sql', 'sqlaudit')({passed}) }}}}",
        "{%- endtest %}",
        "",
        f"{{% macro default__{name}_sql({passed.replace(other, 'population')}) -%}}",
        "{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}",
        "{%- set k = sqlaudit.whole(k, 'k') -%}",
        "{%- set others = population_quasi_identifiers or quasi_identifiers -%}",
        "{%- do sqlaudit.refuse_other_length(quasi_identifiers, others) -%}",
        "{%- set other_entity = population_entity if population_entity is not none else entity -%}",
        "{%- set columns = sqlaudit.target_columns(quasi_identifiers, none, entity, false) -%}",
        "{%- set population_columns = sqlaudit.target_columns(others, none, other_entity, false) -%}",
        "{%- set key = sqlaudit.key_names(quasi_identifiers, false) -%}",
        "{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}",
        both(one),
        "{%- endmacro %}",
        "",
    ]
    return "\n".join(lines)


def typed(sql: str) -> str:
    """The SQL with types that dbt chooses for the warehouse."""
    for written, expression in TYPES.items():
        sql = sql.replace(written, expression)
    return sql.rstrip()


def main() -> int:
    """Write the files, or with --check say which are not what they should be."""
    made = dict(files())
    found = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.sql")}
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
