{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test k_anonymity(model, quasi_identifiers, k, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('k_anonymity_sql', 'sqlaudit')(model, quasi_identifiers, k, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__k_anonymity_sql(model, quasi_identifiers, k, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, none, entity, solo) -%}
{%- set key = sqlaudit.key_names(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set k = sqlaudit.whole(k, 'k') -%}
{%- if entity is not none %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
facts AS (
    SELECT
        {{ key }},
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(COUNT(DISTINCT e) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS row_count
    FROM target
    GROUP BY {{ key }}
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (size < {{ k }}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
)
{%- else %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
facts AS (
    SELECT
        {{ key }},
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS row_count
    FROM target
    GROUP BY {{ key }}
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (size < {{ k }}
)
{%- endif %}
{%- endmacro %}
