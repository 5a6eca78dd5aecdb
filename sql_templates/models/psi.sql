{# The lowest and the highest security estimate of any value of any class, and the classes beyond a limit. #}
{% import "classes/_estimates.sql" as psi with context %}
WITH
{% if form == "packed" %}
numbered AS MATERIALIZED (
    SELECT ROW_NUMBER() OVER () AS id, class.*
    FROM {{ classes }} AS class
),
{% endif %}
{{ psi.estimates_relation("numbered" if form == "packed" else classes, source, sensitive, entity, text, null_lane, lane_count, numbers, curve, width, factor) }}
SELECT
    MIN(lowest) AS lowest,
    MAX(highest) AS highest,
    {% if not condition %}
    0 AS failing_classes, 0 AS failing_rows
    {% else %}
    CAST(COALESCE(SUM(CASE WHEN {{ condition }} THEN classes END), 0) AS BIGINT) AS failing_classes,
    CAST(COALESCE(SUM(CASE WHEN {{ condition }} THEN table_rows END), 0) AS BIGINT) AS failing_rows
    {% endif %}
FROM extremes
