{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test enhanced_beta_likeness(model, quasi_identifiers, beta, sensitive=none, column_name=none, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('enhanced_beta_likeness_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), beta, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__enhanced_beta_likeness_sql(model, quasi_identifiers, sensitive, beta, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}
{%- set beta = sqlaudit.exact(beta, 'enhanced_beta_likeness', 'beta') -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, sqlaudit.read(sensitive, values, true), sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
{%- set facts %}
        , COALESCE(MAX(CAST(c AS {{ sqlaudit.type_of_floats() }}) / t), 0) AS largest_lift
        , COALESCE(SUM(CASE WHEN CAST(c AS {{ sqlaudit.type_of_products() }}) * total * {{ beta.denominator }} > CAST(n AS {{ sqlaudit.type_of_products() }}) * t * {{ beta.numerator + beta.denominator }} THEN 1 ELSE 0 END), 0) AS gains_above_{{ beta.numerator }}_{{ beta.denominator }}
        , COALESCE(SUM(CASE WHEN CAST(c AS {{ sqlaudit.type_of_floats() }}) * total / (CAST(n AS {{ sqlaudit.type_of_floats() }}) * t) - 1 > -LN(CAST(t AS {{ sqlaudit.type_of_floats() }}) / total) THEN 1 ELSE 0 END), 0) AS gains_above_log
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, []) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN gains_above_log > 0 THEN CAST('Infinity' AS {{ sqlaudit.type_of_floats() }}) ELSE GREATEST(0.0, largest_lift * total / n - 1) END AS level_beta
FROM facts
WHERE ((gains_above_{{ beta.numerator }}_{{ beta.denominator }} > 0) OR (gains_above_log > 0)
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records', 'level_beta']) }}
{%- endmacro %}
