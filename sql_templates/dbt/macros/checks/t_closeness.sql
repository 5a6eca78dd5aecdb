{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test t_closeness(model, quasi_identifiers, t, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('t_closeness_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), t, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__t_closeness_sql(model, quasi_identifiers, sensitive, t, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set t = sqlaudit.exact(t) -%}
{%- set facts %}
        , (CAST(n AS {{ sqlaudit.type_of_products() }}) * total + COALESCE(SUM((ABS(CAST(c AS {{ sqlaudit.type_of_products() }}) * total - CAST(n AS {{ sqlaudit.type_of_products() }}) * t) - CAST(n AS {{ sqlaudit.type_of_products() }}) * t)), 0)) AS equal_distance
        , MAX(CAST(long.n AS {{ sqlaudit.type_of_products() }})) AS wide_n
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, []) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CAST(equal_distance AS {{ sqlaudit.type_of_floats() }}) / (CAST(n AS {{ sqlaudit.type_of_floats() }}) * total * 2) AS level_t
FROM facts
WHERE (equal_distance * {{ t.denominator }} > wide_n * total * 2 * {{ t.numerator }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endmacro %}
