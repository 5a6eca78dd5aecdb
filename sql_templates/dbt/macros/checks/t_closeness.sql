{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test t_closeness(model, quasi_identifiers, t, sensitive=none, column_name=none, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('t_closeness_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), t, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__t_closeness_sql(model, quasi_identifiers, sensitive, t, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}
{%- set t = sqlaudit.exact(t, 't_closeness', 't') -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, sqlaudit.read(sensitive, values, true), sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
{%- set facts %}
        , (CAST(n AS {{ sqlaudit.type_of_products() }}) * total + COALESCE(SUM((ABS(CAST(c AS {{ sqlaudit.type_of_products() }}) * total - CAST(n AS {{ sqlaudit.type_of_products() }}) * t) - CAST(n AS {{ sqlaudit.type_of_products() }}) * t)), 0)) AS equal_distance
        , MAX(CAST(long.n AS {{ sqlaudit.type_of_products() }})) AS wide_n
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, []) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
    , CAST(equal_distance AS {{ sqlaudit.type_of_floats() }}) / (CAST(n AS {{ sqlaudit.type_of_floats() }}) * total * 2) AS level_t
FROM facts
WHERE (equal_distance * {{ t.denominator }} > wide_n * total * 2 * {{ t.numerator }}
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records', 'level_t']) }}
{%- endmacro %}
