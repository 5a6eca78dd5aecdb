{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test k_anonymity(model, quasi_identifiers, k, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('k_anonymity_sql', 'sqlaudit')(model, quasi_identifiers, k, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__k_anonymity_sql(model, quasi_identifiers, k, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set k = sqlaudit.whole(k, 'k_anonymity', 'k') -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, none, sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
WITH {{ side.relations }}{{ sqlaudit.class_sizes(side.source, side.columns, side.key, side.entity) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (size < {{ k }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records']) }}
{%- endmacro %}
