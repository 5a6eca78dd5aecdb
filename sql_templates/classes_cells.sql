{# Equivalence classes with their (lane, count) pairs in two arrays: for many sensitive values. #}
{% import "_target.sql" as parts with context %}
{% set key = parts.key_columns(keys, solo) %}
WITH {{ parts.target(source, keys, sensitive, entity, solo) }},
{{ parts.lanes(entity, text) }},
cells AS (
    SELECT
        {{ key ~ "," if key }}
        s,
    {% if entity is not none %}
        COUNT(DISTINCT e) AS c,
    {% else %}
        COUNT(*) AS c,
    {% endif %}
        COUNT(*) AS row_count
    FROM target
    GROUP BY {{ key ~ ", " if key }}s
),
coded AS (
    SELECT
        {% for column in key.split(", ") if column %}cells.{{ column }}, {% endfor %}

        COALESCE(lanes.lane, {{ null_lane }}) AS lane, c, row_count
    FROM cells
    LEFT JOIN lanes ON cells.s = lanes.s
),
{% if entity is not none %}
persons AS (
    SELECT {{ key ~ "," if key }} COUNT(DISTINCT e) AS size
    FROM target
    {{ "GROUP BY " ~ key if key }}
),
parts AS (
    SELECT {{ key ~ "," if key }} lane, c, row_count, CAST(NULL AS BIGINT) AS size
    FROM coded
    UNION ALL
    SELECT {{ key ~ "," if key }} CAST(NULL AS BIGINT) AS lane, CAST(NULL AS BIGINT) AS c, 0 AS row_count, size
    FROM persons
),
{% endif %}
grouped AS (
    SELECT
        {{ key ~ "," if key }}
        CAST(SUM(c) AS BIGINT) AS n,
        CAST({{ "MAX(size)" if entity is not none else "SUM(c)" }} AS BIGINT) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows,
        ARRAY_AGG(lane) {{ "FILTER (WHERE NOT lane IS NULL)" if entity is not none }} AS lane_list,
        ARRAY_AGG(c) {{ "FILTER (WHERE NOT c IS NULL)" if entity is not none }} AS count_list
    FROM {{ "parts" if entity is not none else "coded" }} AS part
    {{ "GROUP BY " ~ key if key else "HAVING COUNT(*) > 0" }}
)
SELECT
    ROW_NUMBER() OVER () AS id,
    {{ key ~ "," if key and keep_keys }}
    1 AS classes, n, size, table_rows, lane_list, count_list
FROM grouped
WHERE n > 0
