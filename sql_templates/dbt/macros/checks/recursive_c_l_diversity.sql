{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test recursive_c_l_diversity(model, quasi_identifiers, c, l=2, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('recursive_c_l_diversity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), c, l, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__recursive_c_l_diversity_sql(model, quasi_identifiers, sensitive, c, l, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set numbering = 'ORDER BY ' ~ quasi_identifiers[0] -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo, numbering) -%}
{%- set key = sqlaudit.key_columns(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set l = sqlaudit.whole(l, 'l') -%}
{%- set c = sqlaudit.exact(c) -%}
{%- if l < 2 %}
{%- set facts %}
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, []) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (1 = 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- else %}
{%- set facts %}
        , COALESCE(MAX(c), 0) AS largest
        , SUM(CASE WHEN position <= {{ l - 1 }} THEN c ELSE 0 END) AS head_{{ l - 1 }}
{%- endset %}
WITH {{ sqlaudit.class_facts(model, columns, key, entity, facts, ['positions']) }}
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN n - head_{{ l - 1 }} > 0 THEN CAST(largest AS {{ sqlaudit.type_of_floats() }}) / (n - head_{{ l - 1 }}) ELSE CAST('Infinity' AS {{ sqlaudit.type_of_floats() }}) END AS level_c
FROM facts
WHERE (CAST(largest AS {{ sqlaudit.type_of_products() }}) * {{ c.denominator }} >= CAST(n - head_{{ l - 1 }} AS {{ sqlaudit.type_of_products() }}) * {{ c.numerator }}
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
{%- endif %}
)
{%- endif %}
{%- endmacro %}
