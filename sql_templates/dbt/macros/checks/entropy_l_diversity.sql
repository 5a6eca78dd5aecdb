{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test entropy_l_diversity(model, quasi_identifiers, l, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('entropy_l_diversity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), l, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__entropy_l_diversity_sql(model, quasi_identifiers, sensitive, l, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set l = sqlaudit.exact(l) -%}
{%- set facts %}
        , COALESCE(SUM(CASE WHEN c > 0 THEN c * LN(CAST(c AS {{ sqlaudit.type_of_floats() }})) ELSE 0.0 END), 0) AS count_log_count
        , COALESCE(MAX(c), 0) AS largest
        , COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, []) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN largest * distinct_values = n THEN CAST(distinct_values AS {{ sqlaudit.type_of_floats() }}) ELSE EXP(LN(CAST(n AS {{ sqlaudit.type_of_floats() }})) - count_log_count / n) END AS level_l
FROM facts
WHERE (CASE WHEN largest * distinct_values = n THEN CAST(distinct_values AS {{ sqlaudit.type_of_counts() }}) * {{ l.denominator }} < {{ l.numerator }} ELSE EXP(LN(CAST(n AS {{ sqlaudit.type_of_floats() }})) - count_log_count / n) < {{ l.low }} END
    OR largest * distinct_values <> n AND EXP(LN(CAST(n AS {{ sqlaudit.type_of_floats() }})) - count_log_count / n) BETWEEN {{ l.low }} AND {{ l.high }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endmacro %}
