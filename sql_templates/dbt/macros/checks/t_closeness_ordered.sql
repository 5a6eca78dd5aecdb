{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test t_closeness_ordered(model, quasi_identifiers, t, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('t_closeness_ordered_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), t, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__t_closeness_ordered_sql(model, quasi_identifiers, sensitive, t, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo) -%}
{%- set key = sqlaudit.key_names(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- do sqlaudit.refuse_text(model, sensitive) -%}
{%- set t = sqlaudit.exact(t) -%}
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
        CAST(DENSE_RANK() OVER (ORDER BY s) AS {{ sqlaudit.type_of_counts() }}) AS place,
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
placed AS (
    SELECT added.*, MAX(place) OVER () AS value_count
    FROM added
),
places AS (
    SELECT
        place,
        CAST(SUM(value_total) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS cumulated
    FROM (
        SELECT place, MAX(t) AS value_total
        FROM placed
        GROUP BY place
    ) AS seen
),
stepped AS (
    SELECT
        placed.*,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS reached,
        LEAD(place) OVER (PARTITION BY {{ key }} ORDER BY place) AS next_place,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY place) AS step
    FROM placed
),
gapped AS (
    SELECT
        {{ key }}, c, cell_size, cell_rows, n, total, value_count,
        SUM(ABS(CAST(CASE WHEN places.place >= stepped.place THEN reached ELSE 0 END AS {{ sqlaudit.type_of_products() }}) * total - CAST(n AS {{ sqlaudit.type_of_products() }}) * cumulated)) AS gap
    FROM stepped
    CROSS JOIN places
    WHERE (places.place >= stepped.place OR step = 1) AND (next_place IS NULL OR places.place < next_place)
    GROUP BY {{ key }}, c, cell_size, cell_rows, n, total, value_count, stepped.place
),

facts AS (
    SELECT
        {{ key }}, n, total,
        value_count,
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count
        , SUM(gap) AS ordered_distance
        , MAX(CAST(long.n AS {{ sqlaudit.type_of_products() }})) AS wide_n
    FROM gapped AS long
    GROUP BY {{ key }}, n, total, value_count
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CAST(ordered_distance AS {{ sqlaudit.type_of_floats() }}) / (CAST(n AS {{ sqlaudit.type_of_floats() }}) * GREATEST(1, value_count - 1) * total) AS level_t
FROM facts
WHERE (ordered_distance * {{ t.denominator }} > wide_n * GREATEST(1, value_count - 1) * total * {{ t.numerator }}
    OR (SELECT COUNT(*) FROM target WHERE s IS NULL) > 0
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
        CAST(DENSE_RANK() OVER (ORDER BY s) AS {{ sqlaudit.type_of_counts() }}) AS place,
        CAST(SUM(c) OVER (PARTITION BY {{ key }}) AS {{ sqlaudit.type_of_counts() }}) AS n,
        CAST(SUM(of_table) OVER (PARTITION BY s) AS {{ sqlaudit.type_of_counts() }}) AS t,
        CAST(SUM(of_table) OVER () AS {{ sqlaudit.type_of_counts() }}) AS total
    FROM cells
),
placed AS (
    SELECT added.*, MAX(place) OVER () AS value_count
    FROM added
),
places AS (
    SELECT
        place,
        CAST(SUM(value_total) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS cumulated
    FROM (
        SELECT place, MAX(t) AS value_total
        FROM placed
        GROUP BY place
    ) AS seen
),
stepped AS (
    SELECT
        placed.*,
        CAST(SUM(c) OVER (PARTITION BY {{ key }} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS {{ sqlaudit.type_of_counts() }}) AS reached,
        LEAD(place) OVER (PARTITION BY {{ key }} ORDER BY place) AS next_place,
        ROW_NUMBER() OVER (PARTITION BY {{ key }} ORDER BY place) AS step
    FROM placed
),
gapped AS (
    SELECT
        {{ key }}, c, cell_size, cell_rows, n, total, value_count,
        SUM(ABS(CAST(CASE WHEN places.place >= stepped.place THEN reached ELSE 0 END AS {{ sqlaudit.type_of_products() }}) * total - CAST(n AS {{ sqlaudit.type_of_products() }}) * cumulated)) AS gap
    FROM stepped
    CROSS JOIN places
    WHERE (places.place >= stepped.place OR step = 1) AND (next_place IS NULL OR places.place < next_place)
    GROUP BY {{ key }}, c, cell_size, cell_rows, n, total, value_count, stepped.place
),

facts AS (
    SELECT
        {{ key }}, n, total,
        value_count,
        CAST(SUM(cell_size) AS {{ sqlaudit.type_of_counts() }}) AS size,
        CAST(SUM(cell_rows) AS {{ sqlaudit.type_of_counts() }}) AS row_count
        , SUM(gap) AS ordered_distance
        , MAX(CAST(long.n AS {{ sqlaudit.type_of_products() }})) AS wide_n
    FROM gapped AS long
    GROUP BY {{ key }}, n, total, value_count
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CAST(ordered_distance AS {{ sqlaudit.type_of_floats() }}) / (CAST(n AS {{ sqlaudit.type_of_floats() }}) * GREATEST(1, value_count - 1) * total) AS level_t
FROM facts
WHERE (ordered_distance * {{ t.denominator }} > wide_n * GREATEST(1, value_count - 1) * total * {{ t.numerator }}
    OR (SELECT COUNT(*) FROM target WHERE s IS NULL) > 0
)
{%- endif %}
{%- endmacro %}
