{# The classes of the table and of the population side by side, by their size in the population; or, for the stage
   "classes", each with its key and whether it satisfies `short`, a condition over members and people. Both are added up
   in one GROUP BY, in which NULLs are equal. #}
{% import "classes/_target.sql" as parts with context %}
{% set key = parts.key_columns(keys, false) %}
{% macro side(columns) %}{% for column in columns %}{{ column }} AS q{{ loop.index }}, {% endfor %}{% endmacro %}
WITH audited AS (
    SELECT
        {{ side(keys) }}
        {{ "COUNT(DISTINCT " ~ entity ~ ")" if entity is not none else "COUNT(*)" }} AS members,
        COUNT(*) AS table_rows
    FROM {{ source }}
    {{ "GROUP BY " ~ (keys | join(", ")) if keys }}
),
people AS (
    SELECT
        {{ side(population_keys) }}
        {{ "COUNT(DISTINCT " ~ population_entity ~ ")" if population_entity is not none else "COUNT(*)" }} AS people
    FROM {{ population }}
    {{ "GROUP BY " ~ (population_keys | join(", ")) if population_keys }}
),
both_sides AS (
    SELECT {{ key ~ ", " if key }}members, table_rows, 0 AS people
    FROM audited
    UNION ALL
    SELECT {{ key ~ ", " if key }}0, 0, people
    FROM people
),
matched AS (
    SELECT
        {{ key ~ "," if key and stage == "classes" }}
        CAST(SUM(members) AS BIGINT) AS members,
        CAST(SUM(table_rows) AS BIGINT) AS table_rows,
        CAST(SUM(people) AS BIGINT) AS people
    FROM both_sides
    {{ "GROUP BY " ~ key if key }}
)
{% macro where(condition, what) %}CAST(SUM(CASE WHEN {{ condition }} THEN {{ what }} ELSE 0 END) AS BIGINT){% endmacro %}
{% if limits is none %}
{% set outside = "1 = 0" %}
{% else %}
{% set outside = "CAST(members AS " ~ wide ~ ") * " ~ limits[0].denominator ~ " < CAST(people AS " ~ wide ~ ") * " ~ limits[0].numerator
    ~ " OR CAST(members AS " ~ wide ~ ") * " ~ limits[1].denominator ~ " > CAST(people AS " ~ wide ~ ") * " ~ limits[1].numerator %}
{% endif %}
{% if stage == "classes" %}
SELECT
    {{ key ~ "," if key }}
    CASE WHEN {{ short or outside }} THEN 1 ELSE 0 END AS short,
    people,
    CASE WHEN people > 0 THEN CAST(members AS DOUBLE) / people END AS presence
FROM matched
WHERE members > 0 OR people > 0
{% else %}
SELECT
    people AS size,
    COUNT(*) AS classes,
    {{ where("members > 0", "1") }} AS met,
    CAST(SUM(members) AS BIGINT) AS members,
    CAST(SUM(table_rows) AS BIGINT) AS table_rows,
    MIN(members) AS fewest,
    MAX(members) AS most,
    {{ where(outside, "1") }} AS failing,
    {{ where(outside, "table_rows") }} AS failing_rows,
    {{ where("members > people", "1") }} AS too_many
FROM matched
WHERE members > 0 OR people > 0
GROUP BY people
ORDER BY people
{% endif %}
