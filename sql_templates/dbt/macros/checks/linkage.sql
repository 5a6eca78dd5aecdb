{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test linkage(model, quasi_identifiers, reference, k=2, reference_quasi_identifiers=none, reference_entity=none, entity=none, show_values=false) -%}
{{ adapter.dispatch('linkage_sql', 'sqlaudit')(model, quasi_identifiers, reference, k, reference_quasi_identifiers, reference_entity, entity, show_values) }}
{%- endtest %}

{% macro default__linkage_sql(model, quasi_identifiers, population, k, population_quasi_identifiers, population_entity, entity, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set k = sqlaudit.whole(k, 'k') -%}
{%- set others = population_quasi_identifiers or quasi_identifiers -%}
{%- do sqlaudit.refuse_other_length(quasi_identifiers, others) -%}
{%- set other_entity = population_entity if population_entity is not none else entity -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, none, entity, false) -%}
{%- set population_columns = sqlaudit.target_columns(others, none, other_entity, false) -%}
{%- set key = sqlaudit.key_names(quasi_identifiers, false) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- if entity is not none %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
population AS (
    SELECT {{ population_columns }}
    FROM {{ population }}
),
both_sides AS (
    SELECT {{ key }}, COUNT(DISTINCT e) AS members, COUNT(*) AS member_rows, 0 AS people
    FROM target
    GROUP BY {{ key }}
    UNION ALL
    SELECT {{ key }}, 0, 0, COUNT(DISTINCT e)
    FROM population
    GROUP BY {{ key }}
),
facts AS (
    SELECT
        {{ key }},
        CAST(SUM(members) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(member_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count,
        CAST(SUM(people) AS {{ sqlaudit.type_of_counts() }}) AS population_size
    FROM both_sides
    GROUP BY {{ key }}
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , population_size AS people
FROM facts
WHERE (size > 0 AND population_size > 0 AND population_size < {{ k }}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
) AND size > 0
{%- else %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
population AS (
    SELECT {{ population_columns }}
    FROM {{ population }}
),
both_sides AS (
    SELECT {{ key }}, COUNT(*) AS members, COUNT(*) AS member_rows, 0 AS people
    FROM target
    GROUP BY {{ key }}
    UNION ALL
    SELECT {{ key }}, 0, 0, COUNT(*)
    FROM population
    GROUP BY {{ key }}
),
facts AS (
    SELECT
        {{ key }},
        CAST(SUM(members) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(member_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count,
        CAST(SUM(people) AS {{ sqlaudit.type_of_counts() }}) AS population_size
    FROM both_sides
    GROUP BY {{ key }}
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , population_size AS people
FROM facts
WHERE (size > 0 AND population_size > 0 AND population_size < {{ k }}
) AND size > 0
{%- endif %}
{%- endmacro %}
