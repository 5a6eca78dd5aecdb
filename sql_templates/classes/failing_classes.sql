{# The failing classes, smallest first; with their keys where `key_names` are shown, else those that look alike
   in one row. `predicates` are (name, condition), `figures` (label, expression) of what is told of a class.

   What no fact says of a class comes from further relations: `estimates`, computed over the same classes; `listed`
   (name, VALUES of signature and figure, counts in a signature), the failing signatures; and `keyed` (name,
   FROM item, figures), a row a class with its key, which may be a class that the table has no one of. The last ones
   are stacked and added up, so that NULLs in keys are equal and nothing is joined on keys. #}
{% import "classes/_facts_relation.sql" as relation with context %}
{% import "classes/_estimates.sql" as psi with context %}
{% macro names(columns) %}{% for column in columns %}{{ column }}, {% endfor %}{% endmacro %}
{% macro ordered(column, text) %}{{ column }}{{ ' COLLATE "C"' if text and dialect == "postgres" }} NULLS LAST{% endmacro %}
{% set numbered = "numbered" if estimates and form == "packed" else classes %}
{% set kept = (["id"] if estimates and form == "packed" else []) + key_columns %}
{% set known = "known" if estimates or listed else "facts" %}
{% set table = "stacked" if keyed else known %}
WITH
{% if estimates and form == "packed" %}
numbered AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, class.*
    FROM {{ classes }} AS class
),
{% endif %}
{{ relation.facts_relation(numbered, totals, facts, form, kept | join(", ") or none, estimates and form != "packed") }}
{%- if estimates %},
{{ psi.estimates_relation("numbered" if form == "packed" else "class", **estimates) }}
{%- endif %}
{% if estimates or listed %},
known AS NOT MATERIALIZED (
    SELECT
        facts.*
    {% if estimates %}
        , extremes.lowest AS psi_lowest, extremes.highest AS psi_highest
        {% for lane in range(estimates.each) %}, extremes.psi_of_{{ lane }}{% endfor %}

    {% endif %}
    {% for name, signatures, depth in listed %}
        , CAST({{ name }}.figure AS DOUBLE) AS {{ name }}
    {% endfor %}
    FROM facts
    {% if estimates %}
    LEFT JOIN extremes ON facts.id = extremes.id
    {% endif %}
    {% for name, signatures, depth in listed %}
    LEFT JOIN {{ signatures }} AS {{ name }}(signature, figure)
        ON CAST(facts.n AS TEXT){% for rank in range(1, depth + 1) %} || ':' || CAST(COALESCE(facts.top_counts_{{ depth }}[{{ rank }}], 0) AS TEXT){% endfor %} = {{ name }}.signature
    {% endfor %}
)
{%- endif %}
{% if keyed %},
sides AS NOT MATERIALIZED (
    SELECT
        {{ names(key_columns) }}
        classes, table_rows, size, n, {{ names(columns) }}
    {% for name, side, told in keyed %}
        CAST(NULL AS BIGINT) AS {{ name }}
        {%- for figure in told %}, CAST(NULL AS DOUBLE) AS {{ name }}_{{ figure }}{% endfor %}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ known }}
{% for name, side, told in keyed %}
    UNION ALL
    SELECT
        {{ names(key_columns) }}
        NULL, NULL, NULL, NULL, {% for _ in columns %}NULL, {% endfor %}

    {% for other, _, figures in keyed %}
        {{ "short" if other == name else "NULL" }}
        {%- for figure in figures %}, {{ "CAST(" ~ figure ~ " AS DOUBLE)" if other == name else "NULL" }}{% endfor %}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ side }} AS {{ name }}
{% endfor %}
),
stacked AS NOT MATERIALIZED (
    SELECT
        {{ names(key_columns) }}
        MAX(classes) AS classes, MAX(table_rows) AS table_rows, MAX(size) AS size, MAX(n) AS n
    {% for column in columns %}
        , MAX({{ column }}) AS {{ column }}
    {% endfor %}
    {% for name, side, told in keyed %}
        , MAX({{ name }}) AS {{ name }}{% for figure in told %}, MAX({{ name }}_{{ figure }}) AS {{ name }}_{{ figure }}{% endfor %}

    {% endfor %}
    FROM sides
    {{ "GROUP BY " ~ key_columns | join(", ") if key_columns }}
)
{%- endif %},
short AS NOT MATERIALIZED (
    SELECT
        {{ names(key_names) }}
        {{ "COALESCE(size, 0)" if keyed else "size" }} AS class_size,
        {{ "COALESCE(classes, 1)" if keyed else "classes" }} AS classes,
        {{ "COALESCE(table_rows, 0)" if keyed else "table_rows" }} AS table_rows,
        n
    {% for label, figure in figures %}
        , {{ figure }} AS figure_{{ loop.index0 }}
    {% endfor %}
    {% for name, predicate in predicates %}
        , CASE WHEN {{ predicate }} THEN 1 ELSE 0 END AS {{ name }}
    {% endfor %}
    FROM {{ table }}
)
{% set told %}{% for _ in figures %}figure_{{ loop.index0 }}, {% endfor %}{% for name, _ in predicates %}{{ name }}{{ ", " if not loop.last }}{% endfor %}{% endset %}
{% set fails %}{% for name, _ in predicates %}{{ name }} = 1{{ " OR " if not loop.last }}{% endfor %}{% endset %}
{% if key_names %}
SELECT
    {{ names(key_names) }}
    class_size, classes, table_rows, {{ told }},
    CAST({{ "(SELECT SUM(classes) FROM short WHERE " ~ fails ~ ")" if dialect == "spark" else "SUM(classes) OVER ()" }} AS BIGINT) AS failing_total
FROM short
WHERE {{ fails }}
ORDER BY class_size, n, {% for column, text in zip(key_names, collated) %}{{ ordered(column, text) }}, {% endfor %}table_rows
{% else %}
SELECT alike.*, CAST(SUM(classes) OVER () AS BIGINT) AS failing_total
FROM (
    SELECT
        class_size,
        CAST(SUM(classes) AS BIGINT) AS classes,
        CAST(SUM(table_rows) AS BIGINT) AS table_rows,
        {{ told }}
    FROM short
    WHERE {{ fails }}
    GROUP BY class_size, CAST(table_rows AS DOUBLE) / classes, {{ told }}
) AS alike
ORDER BY class_size, {{ told }}, CAST(table_rows AS DOUBLE) / classes
{% endif %}
{% if limit is not none %}
LIMIT {{ limit }}
{% endif %}
