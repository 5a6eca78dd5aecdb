{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test distinct_l_diversity(model, quasi_identifiers, l, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('distinct_l_diversity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), l, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__distinct_l_diversity_sql(model, quasi_identifiers, sensitive, l, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set l = sqlaudit.whole(l, 'l') -%}
{%- set facts %}
        , COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, []) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , distinct_values AS level_l
FROM facts
WHERE (distinct_values < {{ l }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endmacro %}
