{# The records that are unique on a column set and on no smaller one (minimal sample uniques). A record is the number of
   its row; a set is its bits in words w0, w1, … of 62. A row with a missing value in the set is not looked at. #}
{% import "column_sets/_columns_source.sql" as parts with context %}

{# The unique records of some sets, minimal or not. #}
{% macro uniques(sets, source, record, coded) %}
{% for set in sets %}
{{ "UNION ALL" if not loop.first }}
SELECT MIN({{ record }}) AS record, {% for word in set.words %}CAST({{ word }} AS BIGINT) AS w{{ loop.index0 }}, {% endfor %}{{ set.size }} AS size
FROM {{ source }}
{% if set.nullable %}
WHERE NOT ({{ parts.solo(set.nullable, coded) }})
{% endif %}
GROUP BY {{ parts.keys(set) }}
HAVING COUNT(*) = 1
{% endfor %}
{%- endmacro %}

{# Those of them that are in no smaller set of the record that is known already. #}
{% macro minimal(candidates, known, words) %}
SELECT candidate.*
FROM {{ candidates }} AS candidate
WHERE NOT EXISTS (
    SELECT 1
    FROM {{ known }} AS smaller
    WHERE smaller.record = candidate.record
    {% for word in range(words) %}
        AND smaller.w{{ word }} & candidate.w{{ word }} = smaller.w{{ word }}
    {% endfor %}
)
{%- endmacro %}

{# All minimal sample uniques as one chain of CTEs, for engines that keep no tables: ends in `found`. #}
{% macro chain(levels, source, columns, kept, words) %}
people AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS number, listed.*
    FROM (
        {{ parts.rows(columns, none, kept) }}
        FROM {{ source }}
    ) AS listed
),
{% for sets in levels %}
candidates_{{ loop.index }} AS (
    {{ uniques(sets, "people", "number", false) }}
),
level_{{ loop.index }} AS MATERIALIZED (
    {% if loop.first %}
    SELECT * FROM candidates_1
    {% else %}
    {{ minimal("candidates_" ~ loop.index, "found_" ~ (loop.index - 1), words) }}
    {% endif %}
),
found_{{ loop.index }} AS MATERIALIZED (
    SELECT * FROM level_{{ loop.index }}
    {% if not loop.first %}
    UNION ALL
    SELECT * FROM found_{{ loop.index - 1 }}
    {% endif %}
),
{% endfor %}
found AS (SELECT * FROM found_{{ levels | length }})
{%- endmacro %}

{# `found` from the tables that were kept. #}
{% macro kept_tables(tables) %}
found AS (
    {% for table in tables %}
    {{ "UNION ALL" if not loop.first }}
    SELECT * FROM {{ table }}
    {% endfor %}
)
{%- endmacro %}

{# The WITH list of a question about minimal sample uniques. #}
{% macro found() -%}
{% if tables %}{{ kept_tables(tables) }}{% else %}{{ chain(levels, source, columns, kept, words) }}{% endif %}
{%- endmacro %}

{# For each record how many of its minimal sample uniques have 1, 2, … columns. #}
{% macro by_record(sizes) %}
by_record AS (
    SELECT
        record
    {% for size in sizes %}
        , SUM(CASE WHEN size = {{ size }} THEN 1 ELSE 0 END) AS n{{ size }}
    {% endfor %}
    FROM found
    GROUP BY record
)
{%- endmacro %}
