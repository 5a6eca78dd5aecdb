{# Equivalence classes with an array of their cells: for many sensitive values. A cell is one number, the lane in the
   bits from 40 on and the count below. With `share` only some of the classes are made, so that they fit the memory. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, solo) %}
WITH {{ parts.target(source, keys, sensitive, entity, solo) }},
{{ parts.known_lanes(kept_lanes) if kept_lanes else parts.lanes(entity, text) }},
{% set source_rows = "shared" if share else "target" %}
{% if share %}
{{ parts.shared(share) }},
{% endif %}
{% if entity is not none %}
members AS MATERIALIZED (
    {{ rows.members_of(key, source_rows) }}
),
{% endif %}
cells AS NOT MATERIALIZED (
    SELECT
        {{ key ~ "," if key }}
        s,
        COUNT(*) AS c,
        {{ "SUM(row_count)" if entity is not none else "COUNT(*)" }} AS row_count
    FROM {{ "members" if entity is not none else source_rows }} AS member
    GROUP BY {{ key ~ ", " if key }}s
),
coded AS NOT MATERIALIZED (
    SELECT
        {% for column in key.split(", ") if column %}cells.{{ column }}, {% endfor %}

        COALESCE(lanes.lane, {{ null_lane }}) AS lane, c, row_count
    FROM cells
    LEFT JOIN lanes ON cells.s = lanes.s
),
{% if entity is not none %}
persons AS NOT MATERIALIZED (
    SELECT {{ key ~ "," if key }} COUNT(DISTINCT e) AS size
    FROM members
    {{ "GROUP BY " ~ key if key }}
),
parts AS NOT MATERIALIZED (
    SELECT {{ key ~ "," if key }} lane, c, row_count, CAST(NULL AS BIGINT) AS size
    FROM coded
    UNION ALL
    SELECT {{ key ~ "," if key }} CAST(NULL AS BIGINT) AS lane, CAST(NULL AS BIGINT) AS c, 0 AS row_count, size
    FROM persons
),
{% endif %}
grouped AS NOT MATERIALIZED (
    SELECT
        {{ key ~ "," if key }}
        CAST(SUM(c) AS BIGINT) AS n,
        CAST({{ "MAX(size)" if entity is not none else "SUM(c)" }} AS BIGINT) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows,
        ARRAY_AGG(lane * {{ 2 ** 40 }} + c) {{ "FILTER (WHERE NOT lane IS NULL)" if entity is not none }} AS cell_list
    FROM {{ "parts" if entity is not none else "coded" }} AS part
    {{ "GROUP BY " ~ key if key else "HAVING COUNT(*) > 0" }}
)
SELECT
    {{ "ROW_NUMBER() OVER () AS id," if number }}
    {{ key ~ "," if key and keep_keys }}
    1 AS classes, n, size, table_rows, cell_list
FROM grouped
WHERE n > 0
