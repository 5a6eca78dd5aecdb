{# How many count vectors a workbench has, and how many rows of their classes are in no lane. #}
SELECT
    COUNT(*) AS vectors,
    {% if lane_count %}
    CAST(COALESCE(SUM(classes * (n{% for lane in range(lane_count) %} - COALESCE(c{{ lane }}, 0){% endfor %})), 0) AS BIGINT) AS rows_without_lane
    {% else %}
    0 AS rows_without_lane
    {% endif %}
FROM {{ classes }} AS class
