{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test recursive_c_l_diversity(model, quasi_identifiers, c, l=2, sensitive=none, column_name=none, entity=none, nulls='equal', known_rows='worse', show_values=false, values=none) -%}
{{ adapter.dispatch('recursive_c_l_diversity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), c, l, entity, nulls, known_rows, show_values, values) }}
{%- endtest %}

{% macro default__recursive_c_l_diversity_sql(model, quasi_identifiers, sensitive, c, l, entity, nulls, known_rows, show_values, values) -%}
{%- set listed = sqlaudit.columns_of(model) -%}
{%- set quasi_identifiers = sqlaudit.columns_named(listed, quasi_identifiers, 'quasi_identifiers') -%}
{%- set entity = sqlaudit.entity_named(listed, entity) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set named, sensitive = sensitive, sqlaudit.column_named(listed, sensitive, 'sensitive') -%}
{%- set l = sqlaudit.whole(l, 'recursive_c_l_diversity', 'l') -%}
{%- set c = sqlaudit.exact(c, 'recursive_c_l_diversity', 'c') -%}
{%- set statements = [] -%}
{%- for known in sqlaudit.rows_known(entity, known_rows) -%}
{%- set side = sqlaudit.side(known, known_rows, listed, model, quasi_identifiers, sqlaudit.read(sensitive, values, true), sqlaudit.read(entity, values), solo, show_values) -%}
{%- set statement -%}
{%- if l < 2 %}
{%- set facts %}
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, []) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (1 = 0
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- else %}
{%- set facts %}
        , COALESCE(MAX(c), 0) AS largest
        , SUM(CASE WHEN position <= {{ l - 1 }} THEN c ELSE 0 END) AS head_{{ l - 1 }}
{%- endset %}
WITH {{ side.relations }}{{ sqlaudit.class_facts(side.source, side.columns, side.key, side.entity, facts, ['positions']) }}
SELECT
    {{ side.shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN n - head_{{ l - 1 }} > 0 THEN CAST(largest AS {{ sqlaudit.type_of_floats() }}) / (n - head_{{ l - 1 }}) ELSE CAST('Infinity' AS {{ sqlaudit.type_of_floats() }}) END AS level_c
FROM facts
WHERE (CAST(largest AS {{ sqlaudit.type_of_products() }}) * {{ c.denominator }} >= CAST(n - head_{{ l - 1 }} AS {{ sqlaudit.type_of_products() }}) * {{ c.numerator }}
    OR {{ sqlaudit.unread_values(values, model, sensitive, listed) }} > 0
{%- if entity is not none %}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR {{ sqlaudit.unread('target', 'e', values, model, entity, listed) }} > 0
{%- endif %}
)
{%- endif %}
{%- endset -%}
{%- do statements.append(statement) -%}
{%- endfor -%}
{{ sqlaudit.both_sides(statements, quasi_identifiers, show_values, ['class_size', 'n_records'] if l < 2 else ['class_size', 'n_records', 'level_c']) }}
{%- endmacro %}
