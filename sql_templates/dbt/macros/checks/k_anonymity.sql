{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test k_anonymity(model, quasi_identifiers, k, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('k_anonymity_sql', 'sqlaudit')(model, quasi_identifiers, k, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__k_anonymity_sql(model, quasi_identifiers, k, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, none, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set k = sqlaudit.whole(k, 'k') -%}
WITH {{ sqlaudit.class_sizes(model, columns, key, entity) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (size < {{ k }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endmacro %}
