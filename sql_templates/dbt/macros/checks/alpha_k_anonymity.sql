{#- Made by docs/make_dbt.py from the templates of standalone checks: change those, and run it again. -#}
{% test alpha_k_anonymity(model, quasi_identifiers, alpha, k=1, sensitive=none, column_name=none, entity=none, nulls='equal', show_values=false) -%}
{{ adapter.dispatch('alpha_k_anonymity_sql', 'sqlaudit')(model, quasi_identifiers, sqlaudit.sensitive_column(sensitive, column_name), alpha, k, entity, nulls, show_values) }}
{%- endtest %}

{% macro default__alpha_k_anonymity_sql(model, quasi_identifiers, sensitive, alpha, k, entity, nulls, show_values) -%}
{%- do sqlaudit.refuse_no_list(quasi_identifiers) -%}
{%- set solo = sqlaudit.reads_nulls_apart(nulls) -%}
{%- set columns = sqlaudit.target_columns(quasi_identifiers, sensitive, entity, solo) -%}
{%- set key = sqlaudit.key_names(quasi_identifiers, solo) -%}
{%- set shown = sqlaudit.shown_key(quasi_identifiers, show_values) -%}
{%- set k = sqlaudit.whole(k, 'k') -%}
{%- set alpha = sqlaudit.exact(alpha) -%}
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
        , COALESCE(MAX(c), 0) AS largest
    FROM added AS long
    GROUP BY {{ key }}, n, total
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CAST(largest AS {{ sqlaudit.type_of_floats() }}) / n AS level_alpha
FROM facts
WHERE ((size < {{ k }}) OR (largest * {{ alpha.denominator }} > n * {{ alpha.numerator }})
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
        , COALESCE(MAX(c), 0) AS largest
    FROM added AS long
    GROUP BY {{ key }}, n, total
)
SELECT
    {{ shown }}size AS class_size,
    row_count AS n_records
    , CAST(largest AS {{ sqlaudit.type_of_floats() }}) / n AS level_alpha
FROM facts
WHERE ((size < {{ k }}) OR (largest * {{ alpha.denominator }} > n * {{ alpha.numerator }})
)
{%- endif %}
{%- endmacro %}
