{# What the weights say of the classes of the table, in one row of totals. #}
{% import "classes/_rows.sql" as rows %}
{% from "population/_risk.sql" import risk, shares %}
{% set key = rows.key_columns(keys, solo) %}
WITH target AS (
    SELECT
        {{ rows.target_columns(keys, weight, none, solo) }}
    FROM {{ source }}
),
classes AS (
    SELECT COUNT(*) AS members, SUM(CAST(s AS DECIMAL(18, 6))) AS people
    FROM target
    {{ "GROUP BY " ~ key if key }}
),
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
    SUM(members * risk) AS journalist,
    SUM(CAST(members AS DOUBLE) / CAST(people AS DOUBLE)) AS marketer
FROM risks
