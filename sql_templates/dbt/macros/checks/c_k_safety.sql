{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test c_k_safety(model, quasi_identifiers, c, k=3, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('c_k_safety_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), c, k, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__c_k_safety_sql(model, quasi_identifiers, sensitive, c, k, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo) -%}
{%- set key = sqlaudit.key_names(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- do sqlaudit.refuse_knowledge(k) -%}
{%- set c = sqlaudit.ratio_limit(c) -%}
{%- if k | int == 0 %}
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_1 AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * 
            product_1
         AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR (SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found) > 0
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_1 AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * 
            product_1
         AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
)
{%- endif %}
{%- elif k | int == 1 %}
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
        , SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_2 AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
        , LEAST((CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END)) AS product_2
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
        , MIN(product_2) AS weakest_2
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * LEAST(
            product_1 * weakest_1,
            product_2
        ) AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR (SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found) > 0
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
        , SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_2 AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
        , LEAST((CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END)) AS product_2
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
        , MIN(product_2) AS weakest_2
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * LEAST(
            product_1 * weakest_1,
            product_2
        ) AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
)
{%- endif %}
{%- elif k | int == 2 %}
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
        , SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2
        , SUM(CASE WHEN position <= 3 THEN c ELSE 0 END) AS head_3
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_3 AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
        , LEAST((CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END)) AS product_2
        , LEAST((CASE WHEN n - 0 - head_3 > 0 THEN CAST(n - 0 - head_3 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END)) AS product_3
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
        , MIN(product_2) AS weakest_2
        , MIN(product_3) AS weakest_3
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * LEAST(
            product_1 * LEAST(weakest_2, weakest_1 * weakest_1),
            product_2 * weakest_1,
            product_3
        ) AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR (SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found) > 0
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
        , SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2
        , SUM(CASE WHEN position <= 3 THEN c ELSE 0 END) AS head_3
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_3 AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
        , LEAST((CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END)) AS product_2
        , LEAST((CASE WHEN n - 0 - head_3 > 0 THEN CAST(n - 0 - head_3 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END)) AS product_3
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
        , MIN(product_2) AS weakest_2
        , MIN(product_3) AS weakest_3
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * LEAST(
            product_1 * LEAST(weakest_2, weakest_1 * weakest_1),
            product_2 * weakest_1,
            product_3
        ) AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
        , SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2
        , SUM(CASE WHEN position <= 3 THEN c ELSE 0 END) AS head_3
        , SUM(CASE WHEN position <= {{ c.numerator }} THEN c ELSE 0 END) AS head_{{ c.numerator }}
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_{{ c.numerator }} AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
        , LEAST((CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END)) AS product_2
        , LEAST((CASE WHEN n - 0 - head_3 > 0 THEN CAST(n - 0 - head_3 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END)) AS product_3
        , LEAST((CASE WHEN n - 0 - head_{{ c.numerator }} > 0 THEN CAST(n - 0 - head_{{ c.numerator }} AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_3 > 0 THEN CAST(n - 0 - head_3 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_2 > 0 THEN CAST(n - 1 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END) * (CASE WHEN n - 3 - head_1 > 0 THEN CAST(n - 3 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 3) ELSE 0.0 END)) AS product_{{ c.numerator }}
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
        , MIN(product_2) AS weakest_2
        , MIN(product_3) AS weakest_3
        , MIN(product_{{ c.numerator }}) AS weakest_{{ c.numerator }}
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * LEAST(
            product_1 * LEAST(weakest_3, weakest_2 * weakest_1, weakest_1 * weakest_1 * weakest_1),
            product_2 * LEAST(weakest_2, weakest_1 * weakest_1),
            product_3 * weakest_1,
            product_{{ c.numerator }}
        ) AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR (SELECT COUNT(*) FROM target WHERE e IS NULL) > 0
    OR (SELECT COUNT(*) FROM (SELECT e FROM members GROUP BY e HAVING COUNT(*) > 1) AS found) > 0
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
        , SUM(CASE WHEN position <= 1 THEN c ELSE 0 END) AS head_1
        , SUM(CASE WHEN position <= 2 THEN c ELSE 0 END) AS head_2
        , SUM(CASE WHEN position <= 3 THEN c ELSE 0 END) AS head_3
        , SUM(CASE WHEN position <= {{ c.numerator }} THEN c ELSE 0 END) AS head_{{ c.numerator }}
    FROM added AS long
    GROUP BY {{ key }}, n, total
),
products AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_{{ c.numerator }} AS head_of_all
        , (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) AS product_1
        , LEAST((CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END)) AS product_2
        , LEAST((CASE WHEN n - 0 - head_3 > 0 THEN CAST(n - 0 - head_3 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END)) AS product_3
        , LEAST((CASE WHEN n - 0 - head_{{ c.numerator }} > 0 THEN CAST(n - 0 - head_{{ c.numerator }} AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END), (CASE WHEN n - 0 - head_3 > 0 THEN CAST(n - 0 - head_3 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_2 > 0 THEN CAST(n - 1 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END), (CASE WHEN n - 0 - head_2 > 0 THEN CAST(n - 0 - head_2 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END), (CASE WHEN n - 0 - head_1 > 0 THEN CAST(n - 0 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 0) ELSE 0.0 END) * (CASE WHEN n - 1 - head_1 > 0 THEN CAST(n - 1 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 1) ELSE 0.0 END) * (CASE WHEN n - 2 - head_1 > 0 THEN CAST(n - 2 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 2) ELSE 0.0 END) * (CASE WHEN n - 3 - head_1 > 0 THEN CAST(n - 3 - head_1 AS {{ sqlaudit.type_of_floats() }}) / (n - 3) ELSE 0.0 END)) AS product_{{ c.numerator }}
    FROM facts
),
weakest AS (
    SELECT
        MAX(n) AS largest_class
        , MIN(product_1) AS weakest_1
        , MIN(product_2) AS weakest_2
        , MIN(product_3) AS weakest_3
        , MIN(product_{{ c.numerator }}) AS weakest_{{ c.numerator }}
    FROM products
),
disclosed AS (
    SELECT
        {{ key }}, n, size, row_count, head_1, head_of_all, largest_class,
        CAST(n AS {{ sqlaudit.type_of_floats() }}) / head_1 * LEAST(
            product_1 * LEAST(weakest_3, weakest_2 * weakest_1, weakest_1 * weakest_1 * weakest_1),
            product_2 * LEAST(weakest_2, weakest_1 * weakest_1),
            product_3 * weakest_1,
            product_{{ c.numerator }}
        ) AS ratio
    FROM products
    CROSS JOIN weakest
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , 1 / (1 + ratio) AS level_disclosure
FROM disclosed
WHERE (ratio = 0 OR ratio < {{ c.low }} OR (ratio <= {{ c.high }} AND CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
    OR ratio > 0 AND ratio BETWEEN {{ c.low }} AND {{ c.high }} AND NOT (CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * CAST(largest_class AS {{ sqlaudit.type_of_floats() }}) * {{ c.numerator }} < 100000000000)
)
{%- endif %}
{%- endif %}
{%- endmacro %}
