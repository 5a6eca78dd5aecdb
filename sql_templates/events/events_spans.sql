{# Each different value of a column as its place in their order, with the first and the last place within the tolerance. #}
WITH placed AS (
    SELECT value, ROW_NUMBER() OVER (ORDER BY value) AS place
    FROM (SELECT DISTINCT {{ column }} AS value FROM {{ source }} WHERE {{ column }} IS NOT NULL) AS seen
),
ordered AS (
    SELECT place, {{ "CAST(value AS DECIMAL(38, 0))" if unit == "whole" else "value" }} AS value FROM placed
)
{% set reach %}
{% if unit == "days" and dialect == "spark" %}{{ within }}{% elif unit == "days" %}INTERVAL {{ within }} DAYS{% elif unit == "seconds" %}INTERVAL {{ within }} SECONDS{% else %}CAST({{ within }} AS DECIMAL(38, {{ digits }})){% endif %}
{% endset %}
SELECT
    place,
    MIN(place) OVER (ORDER BY value RANGE BETWEEN {{ reach }} PRECEDING AND {{ reach }} FOLLOWING) AS low,
    MAX(place) OVER (ORDER BY value RANGE BETWEEN {{ reach }} PRECEDING AND {{ reach }} FOLLOWING) AS high
FROM ordered
