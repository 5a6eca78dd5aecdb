{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test recursive_c_l_diversity(model, quasi_identifiers, c, l=2, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('recursive_c_l_diversity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), c, l, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__recursive_c_l_diversity_sql(model, quasi_identifiers, sensitive, c, l, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo) -%}
{%- set key = sqlaudit.key_names(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set l = sqlaudit.whole(l, 'l') -%}
{%- set c = sqlaudit.exact(c) -%}
{%- if l | int < 2 %}
{%- if entity is not none %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
members AS (
    SELECT {{ key }}, e, s, COUNT(*) AS row_count
    FROM target
    GROUP BY {{ key }}, e, s
),
persons AS (
    SELECT
        {{ key }}, e, s, row_count,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY {{ key }}, e ORDER BY s) = 1 THEN 1 ELSE 0 END AS is_first_in_class,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY e, s ORDER BY {{ key }}) = 1 THEN 1 ELSE 0 END AS is_first_with_value
    FROM members
),
cells AS (
    SELECT
        {{ key }}, s,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS c,
        CAST(SUM(is_first_in_class) AS {{ sqlaudit.type_of_counts() }}) AS cell_size,
        CAST(SUM(is_first_with_value) AS {{ sqlaudit.type_of_counts() }}) AS of_table,
        CAST(SUM(row_count) AS {{ sqlaudit.type_of_counts() }}) AS cell_rows
    FROM persons
    GROUP BY {{ key }}, s
),
added AS (
    SELECT
        {{ key }}, s, c, cell_size, cell_rows,
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
facts AS (
    SELECT
        {{ key }}, n, total,
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count
    FROM added AS long
    GROUP BY {{ key }}, n, total
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (1 = 0
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
)
{%- else %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
cells AS (
    SELECT
        {{ key }}, s,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS c,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS cell_size,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS of_table,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS cell_rows
    FROM target
    GROUP BY {{ key }}, s
),
added AS (
    SELECT
        {{ key }}, s, c, cell_size, cell_rows,
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
facts AS (
    SELECT
        {{ key }}, n, total,
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count
    FROM added AS long
    GROUP BY {{ key }}, n, total
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
FROM facts
WHERE (1 = 0
)
{%- endif %}
{%- else %}
{%- if entity is not none %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
members AS (
    SELECT {{ key }}, e, s, COUNT(*) AS row_count
    FROM target
    GROUP BY {{ key }}, e, s
),
persons AS (
    SELECT
        {{ key }}, e, s, row_count,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY {{ key }}, e ORDER BY s) = 1 THEN 1 ELSE 0 END AS is_first_in_class,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY e, s ORDER BY {{ key }}) = 1 THEN 1 ELSE 0 END AS is_first_with_value
    FROM members
),
cells AS (
    SELECT
        {{ key }}, s,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS c,
        CAST(SUM(is_first_in_class) AS {{ sqlaudit.type_of_counts() }}) AS cell_size,
        CAST(SUM(is_first_with_value) AS {{ sqlaudit.type_of_counts() }}) AS of_table,
        CAST(SUM(row_count) AS {{ sqlaudit.type_of_counts() }}) AS cell_rows
    FROM persons
    GROUP BY {{ key }}, s
),
added AS (
    SELECT
        {{ key }}, s, c, cell_size, cell_rows,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY c DESC) AS position,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY c DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS running,
        MAX(c) OVER (PARTITION BY {{ key }}) AS greatest_count,
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
facts AS (
    SELECT
        {{ key }}, n, total,
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count
        , COALESCE(MAX(c), 0) AS largest
        , SUM(CASE WHEN position <= {{ l - 1 }} THEN c ELSE 0 END) AS head_{{ l - 1 }}
    FROM added AS long
    GROUP BY {{ key }}, n, total
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN n - head_{{ l - 1 }} > 0 THEN CAST(largest AS {{ sqlaudit.type_of_floats() }}) / (n - head_{{ l - 1 }}) ELSE CAST('Infinity' AS {{ sqlaudit.type_of_floats() }}) END AS level_c
FROM facts
WHERE (CAST(largest AS {{ sqlaudit.type_of_products() }}) * {{ c.denominator }} >= CAST(n - head_{{ l - 1 }} AS {{ sqlaudit.type_of_products() }}) * {{ c.numerator }}
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
)
{%- else %}
WITH target AS (
    SELECT {{ columns }}
    FROM {{ model }}
),
cells AS (
    SELECT
        {{ key }}, s,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS c,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS cell_size,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS of_table,
        CAST(COUNT(*) AS {{ sqlaudit.type_of_counts() }}) AS cell_rows
    FROM target
    GROUP BY {{ key }}, s
),
added AS (
    SELECT
        {{ key }}, s, c, cell_size, cell_rows,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY c DESC) AS position,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY c DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS running,
        MAX(c) OVER (PARTITION BY {{ key }}) AS greatest_count,
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
facts AS (
    SELECT
        {{ key }}, n, total,
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count
        , COALESCE(MAX(c), 0) AS largest
        , SUM(CASE WHEN position <= {{ l - 1 }} THEN c ELSE 0 END) AS head_{{ l - 1 }}
    FROM added AS long
    GROUP BY {{ key }}, n, total
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CASE WHEN n - head_{{ l - 1 }} > 0 THEN CAST(largest AS {{ sqlaudit.type_of_floats() }}) / (n - head_{{ l - 1 }}) ELSE CAST('Infinity' AS {{ sqlaudit.type_of_floats() }}) END AS level_c
FROM facts
WHERE (CAST(largest AS {{ sqlaudit.type_of_products() }}) * {{ c.denominator }} >= CAST(n - head_{{ l - 1 }} AS {{ sqlaudit.type_of_products() }}) * {{ c.numerator }}
)
{%- endif %}
{%- endif %}
{%- endmacro %}
