{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test alpha_k_anonymity(model, quasi_identifiers, alpha, k=1, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('alpha_k_anonymity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), alpha, k, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__alpha_k_anonymity_sql(model, quasi_identifiers, sensitive, alpha, k, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set k = sqlaudit.whole(k, 'k') -%}
{%- set alpha = sqlaudit.exact(alpha) -%}
{%- set facts %}
        , COALESCE(MAX(c), 0) AS largest
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, []) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CAST(largest AS {{ sqlaudit.type_of_floats() }}) / n AS level_alpha
FROM facts
WHERE ((size < {{ k }}) OR (largest * {{ alpha.denominator }} > n * {{ alpha.numerator }})
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endmacro %}
