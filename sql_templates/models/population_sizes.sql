{# The classes of the table and of the population side by side, by their size in the population; or, for the stage
   "classes", each with its key and whether it satisfies `short`, a condition over members and people. #}
{% import "classes/_rows.sql" as rows %}
{% set key = rows.key_columns(keys, false) %}
WITH target AS (
    SELECT
        {{ rows.target_columns(keys, none if keys or entity is not none else "NULL", entity, false) }}
    FROM {{ source }}
),
population AS (
    SELECT
        {{ rows.target_columns(population_keys, none if population_keys or population_entity is not none else "NULL", population_entity, false) }}
    FROM {{ population }}
),
{{ rows.beside_population(key, entity, population_entity) }}
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
