{# What the weights say of the classes of the table, in one row of totals; for the stage "classes", each class with its key
   and whether `short` holds, a condition over members and people; for "sizes", the lightest class of each number of rows. #}
{% import "classes/_rows.sql" as rows %}
{% from "population/_risk.sql" import risk, shares %}
{% set key = rows.key_columns(keys, solo) %}
WITH target AS (
    SELECT
        {{ rows.target_columns(keys, weight, none, solo) }}
    FROM {{ source }}
),
classes AS (
    SELECT {{ key ~ ", " if key }}COUNT(*) AS members, SUM(CAST(s AS DECIMAL(18, 6))) AS people
    FROM target
    {{ "GROUP BY " ~ key if key }}
),
{% if stage == "classes" %}
judged AS (
    SELECT {{ key ~ ", " if key }}CASE WHEN {{ short }} THEN 1 ELSE 0 END AS short, CAST(people AS DOUBLE) AS people
    FROM classes
    WHERE members > 0
)
SELECT *
FROM judged
{% elif stage == "sizes" %}
lightest AS (
    SELECT members, CAST(MIN(people) AS DOUBLE) AS people
    FROM classes
    WHERE members > 0
    GROUP BY members
)
SELECT members, people
FROM lightest
ORDER BY members
{% else %}
shares AS (
    SELECT members, people, {{ shares("members", "people") }}
    FROM classes
    WHERE members > 0
),
risks AS (
    SELECT
        members,
        people,
        {{ risk("members", "people") }} AS risk
    FROM shares
)
SELECT
    COUNT(*) AS classes,
    COALESCE(SUM(CASE WHEN people < members THEN 1 ELSE 0 END), 0) AS too_light,
    COALESCE(SUM(CASE WHEN {{ short }} THEN 1 ELSE 0 END), 0) AS failing,
    COALESCE(SUM(CASE WHEN {{ short }} THEN members ELSE 0 END), 0) AS failing_rows,
    SUM(members * risk) AS journalist,
    SUM(CAST(members AS DOUBLE) / CAST(people AS DOUBLE)) AS marketer
FROM risks
{% endif %}
