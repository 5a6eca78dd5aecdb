{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test delta_disclosure_privacy(model, quasi_identifiers, delta, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('delta_disclosure_privacy_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), delta, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__delta_disclosure_privacy_sql(model, quasi_identifiers, sensitive, delta, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set delta = sqlaudit.exact(delta) -%}
{%- set facts %}
        , COALESCE(MAX(CAST(c AS {{ sqlaudit.type_of_floats() }}) / t), 0) AS largest_lift
        , MIN(CASE WHEN c > 0 THEN CAST(c AS {{ sqlaudit.type_of_floats() }}) / t END) AS smallest_lift
        , COALESCE(SUM(CASE WHEN c > 0 THEN 1 ELSE 0 END), 0) AS distinct_values
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, ['values']) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN distinct_values < value_count THEN CAST('Infinity' AS {{ sqlaudit.type_of_floats() }}) ELSE GREATEST(ABS(LN(largest_lift * total / n)), ABS(LN(smallest_lift * total / n))) END AS level_delta
FROM facts
WHERE (distinct_values < value_count OR GREATEST(ABS(LN(largest_lift * total / n)), ABS(LN(smallest_lift * total / n))) > {{ delta.high }}
    OR distinct_values = value_count AND GREATEST(ABS(LN(largest_lift * total / n)), ABS(LN(smallest_lift * total / n))) BETWEEN {{ delta.low }} AND {{ delta.high }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endmacro %}
