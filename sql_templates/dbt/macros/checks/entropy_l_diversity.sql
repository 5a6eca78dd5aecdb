{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test entropy_l_diversity(model, quasi_identifiers, l, sensitive=none, column_name=none, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('entropy_l_diversity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), l, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__entropy_l_diversity_sql(model, quasi_identifiers, sensitive, l, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}
{%- set l = sqlaudit.exact(l, 'entropy_l_diversity', 'l') -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, sqlaudit.read(sensitive, values, true), sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
{%- set facts %}
        , COALESCE(SUM(CASE WHEN c > 0 THEN c * LN(CAST(c AS {{ sqlaudit.type_of_floats() }})) ELSE 0.0 END), 0) AS count_log_count
        , COALESCE(MAX(c), 0) AS largest
        , COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, []) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN largest * distinct_values = n THEN CAST(distinct_values AS {{ sqlaudit.type_of_floats() }}) ELSE EXP(LN(CAST(n AS {{ sqlaudit.type_of_floats() }})) - count_log_count / n) END AS level_l
FROM facts
WHERE (CASE WHEN largest * distinct_values = n THEN CAST(distinct_values AS {{ sqlaudit.type_of_counts() }}) * {{ l.denominator }} < {{ l.numerator }} ELSE EXP(LN(CAST(n AS {{ sqlaudit.type_of_floats() }})) - count_log_count / n) < {{ l.low }} END
    OR largest * distinct_values <> n AND EXP(LN(CAST(n AS {{ sqlaudit.type_of_floats() }})) - count_log_count / n) BETWEEN {{ l.low }} AND {{ l.high }}
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records', 'level_l']) }}
{%- endmacro %}
