{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test alpha_k_anonymity(model, quasi_identifiers, alpha, k=1, sensitive=none, column_name=none, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('alpha_k_anonymity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), alpha, k, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__alpha_k_anonymity_sql(model, quasi_identifiers, sensitive, alpha, k, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}
{%- set k = sqlaudit.whole(k, 'alpha_k_anonymity', 'k') -%}
{%- set alpha = sqlaudit.exact(alpha, 'alpha_k_anonymity', 'alpha') -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, sqlaudit.read(sensitive, values, true), sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
{%- set facts %}
        , COALESCE(MAX(c), 0) AS largest
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, []) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
    , CAST(largest AS {{ sqlaudit.type_of_floats() }}) / n AS level_alpha
FROM facts
WHERE ((size < {{ k }}) OR (largest * {{ alpha.denominator }} > n * {{ alpha.numerator }})
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records', 'level_alpha']) }}
{%- endmacro %}
