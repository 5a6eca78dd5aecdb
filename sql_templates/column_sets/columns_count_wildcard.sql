{# One column set with a missing value that matches any value. Matching is not transitive, so there are no classes: a
   row counts the rows (or persons) that it matches. Complete patterns match only themselves and incomplete ones, so
   only pairs with an incomplete pattern are compared. #}
{% import "column_sets/_columns_source.sql" as parts with context %}
{% macro equal(a, b) -%}
{% for name in set.solid %}{{ a }}.{{ name }} = {{ b }}.{{ name }} AND {% endfor %}
{% for name in set.nullable %}({{ a }}.{{ name }} = {{ b }}.{{ name }} OR {{ parts.is_null(a ~ "." ~ name, coded) }} OR {{ parts.is_null(b ~ "." ~ name, coded) }}) AND {% endfor %}
1 = 1
{%- endmacro %}
{% set names = set.solid + set.nullable %}
{% set listed = names | join(", ") ~ (", " if names else "") %}
WITH people AS (
    {% if columns is not none %}{{ parts.rows(columns, entity) }}{% else %}SELECT *{% endif %}

    FROM {{ source }}
),
members AS {{ "MATERIALIZED " if dialect in ("postgres", "duckdb") }}(
    SELECT {{ listed }}{{ "e, " if entity is not none }}{{ "CASE WHEN " ~ parts.solo(set.nullable, coded) ~ " THEN 1 ELSE 0 END" if set.nullable else "0" }} AS incomplete, COUNT(*) AS member_rows
    FROM people
    GROUP BY {{ listed }}{{ "e, " if entity is not none }}incomplete
),
patterns AS {{ "MATERIALIZED " if dialect in ("postgres", "duckdb") }}(
    SELECT {{ listed }}incomplete, SUM(member_rows) AS pattern_rows, ROW_NUMBER() OVER () AS pattern
    FROM members
    GROUP BY {{ listed }}incomplete
),
met AS (
    SELECT a.pattern, {{ "b.e" if entity is not none else "b.member_rows" }} AS partner
    FROM patterns AS a
    JOIN members AS b ON {{ equal("a", "b") }}
    WHERE a.incomplete = 1
    UNION ALL
    SELECT a.pattern, {{ "b.e" if entity is not none else "b.member_rows" }} AS partner
    FROM patterns AS a
    JOIN members AS b ON {{ equal("a", "b") }}
    WHERE a.incomplete = 0 AND b.incomplete = 1
    UNION ALL
    SELECT a.pattern, {{ "b.e" if entity is not none else "b.member_rows" }} AS partner
    FROM patterns AS a
    JOIN members AS b ON {% for name in names %}a.{{ name }} = b.{{ name }} AND {% endfor %}a.incomplete = b.incomplete
    WHERE a.incomplete = 0
),
sizes AS (
    SELECT pattern, {{ "COUNT(DISTINCT partner)" if entity is not none else "SUM(partner)" }} AS size
    FROM met
    GROUP BY pattern
)
SELECT
    {{ set.number }} AS set_number,
    NULL AS classes,
    MIN(size) AS smallest,
{% if entity is none %}
    SUM(CASE WHEN size < {{ k }} THEN pattern_rows ELSE 0 END) AS at_risk,
    SUM(CASE WHEN size = 1 THEN pattern_rows ELSE 0 END) AS alone,
    NULL AS pairs
FROM patterns
JOIN sizes ON patterns.pattern = sizes.pattern
{% else %}
    COUNT(DISTINCT CASE WHEN size < {{ k }} THEN members.e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN size = 1 THEN members.e END) AS alone,
    NULL AS pairs
FROM patterns
JOIN sizes ON patterns.pattern = sizes.pattern
JOIN members ON {% for name in set.solid %}patterns.{{ name }} = members.{{ name }} AND {% endfor %}{% for name in set.nullable %}(patterns.{{ name }} = members.{{ name }}{{ "" if coded else " OR (patterns." ~ name ~ " IS NULL AND members." ~ name ~ " IS NULL)" }}) AND {% endfor %}patterns.incomplete = members.incomplete
{% endif %}
