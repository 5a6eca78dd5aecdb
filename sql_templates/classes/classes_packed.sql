{# Equivalence classes as count vectors. Every sensitive value has a lane of some bits in one of a few integer words;
   one GROUP BY sums the words, a second one merges classes with equal vectors. With `keep_keys` the classes stay
   apart and carry their keys. With `counted` only classes above a size are made; the smaller ones are there already.
   With `people` rows are grouped by class and person already, and a bit of `present` is a value (people_grouped.sql).
   With `share` only some of the classes are made, so that they fit the memory. Spark takes what is made of a table for
   as large as the table, and would send its rows to the weights; the limit, far above the number of lanes, says better. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, solo) %}
WITH {% if people %}
packed AS NOT MATERIALIZED (
    SELECT
        {{ "SUM(BIT_COUNT(present))" if words else "COUNT(*)" }} AS n,
        COUNT(*) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows
    {% for word in words %}
        , SUM(CAST(0 AS {{ word_type }}){% for lane, shift in word %} + CASE WHEN present & {{ 2 ** lane }} = 0 THEN 0 ELSE {{ 2 ** shift }} END{% endfor %}) AS w{{ loop.index0 }}
    {% endfor %}
    FROM {{ people }} AS member
    GROUP BY {{ people_keys | join(", ") }}
)
{%- else %}
{{ parts.target(source, keys, sensitive, entity, solo) }},
{% if words %}
{{ parts.known_lanes(kept_lanes) if kept_lanes else parts.lanes(entity, text) }},
weights AS MATERIALIZED (
    SELECT
        s
    {% for word in words %}
        , CAST(CASE lane{% for lane, shift in word %} WHEN {{ lane }} THEN {{ 2 ** shift }}{% endfor %} ELSE 0 END AS {{ word_type }}) AS w{{ loop.index0 }}
    {% endfor %}
    FROM lanes
    WHERE s IS NOT NULL
    {% if dialect == "spark" %}
    LIMIT 10000
    {% endif %}
),
{% endif %}
{% set source_rows = "shared" if share else "target" %}
{% if share %}
{{ parts.shared(share) }},
{% endif %}
{% if entity is not none %}
members AS NOT MATERIALIZED (
    {{ rows.members_of(key, source_rows) }}
),
{% endif %}
{% set members = "members" if entity is not none else source_rows %}
{% if counted %}
large AS MATERIALIZED (
    SELECT {{ key }}
    FROM {{ members }}
    GROUP BY {{ key }}
    HAVING COUNT(*) > {{ most }}
),
{% endif %}
packed AS NOT MATERIALIZED (
    SELECT
        {{ key ~ "," if key }}
        COUNT(*) AS n,
    {% if entity is not none %}
        COUNT({{ "DISTINCT " if sensitive is not none }}e) AS size,
        CAST(SUM(row_count) AS BIGINT) AS table_rows
    {% else %}
        COUNT(*) AS size,
        COUNT(*) AS table_rows
    {% endif %}
    {% for word in words %}
    {% if has_null and dialect == "spark" %}
        , SUM(CASE WHEN member.s IS NULL THEN {{ null_weights[loop.index0] }} ELSE w{{ loop.index0 }} END) AS w{{ loop.index0 }}
    {% else %}
        , SUM({{ "COALESCE(w" ~ loop.index0 ~ ", " ~ null_weights[loop.index0] ~ ")" if has_null else "w" ~ loop.index0 }}) AS w{{ loop.index0 }}
    {% endif %}
    {% endfor %}
    {% if counted %}
    FROM (
        SELECT member.*
        FROM {{ members }} AS member
        SEMI JOIN large ON {% for name in key.split(", ") %}member.{{ name }} IS NOT DISTINCT FROM large.{{ name }}{{ " AND " if not loop.last }}{% endfor %}

    ) AS member
    {% else %}
    FROM {{ members }} AS member
    {% endif %}
    {% if words %}
    LEFT JOIN weights ON member.s = weights.s
    {% endif %}
    {% if key %}
    GROUP BY {{ key }}
    {% else %}
    HAVING COUNT(*) > 0
    {% endif %}
){% endif %}{% if not keep_keys %},
vectors AS NOT MATERIALIZED (
    SELECT
        n, size, COUNT(*) AS classes, CAST(SUM(table_rows) AS BIGINT) AS table_rows
        {% for word in words %}, w{{ loop.index0 }}{% endfor %}

    FROM packed
    GROUP BY n, size{{ ", table_rows" if entity is not none }}{% for word in words %}, w{{ loop.index0 }}{% endfor %}

){% endif %}

SELECT
    {% if keep_keys %}
    {{ key ~ "," if key }} 1 AS classes,
    {% else %}
    classes,
    {% endif %}
    n, size, table_rows
    {% for word in words %}
    {% set index = loop.index0 %}
    {% for lane, shift in word %}
    , CAST(({{ "w" ~ index ~ " >> " ~ shift if shift else "w" ~ index }}) & {{ mask }} AS BIGINT) AS c{{ lane }}
    {% endfor %}
    {% endfor %}
FROM {{ "packed" if keep_keys else "vectors" }}
{% if counted %}
UNION ALL
SELECT *
FROM {{ counted }} AS counted
WHERE n <= {{ most }}
{% endif %}
{% if limit is not none %}
LIMIT {{ limit }}
{% endif %}
