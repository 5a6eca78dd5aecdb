{# Whether the rows of a table look like cells of a published one: as many different combinations of its dimensions as
   rows, a count that is nowhere negative and everywhere whole. #}
WITH looked_at AS (
    SELECT {{ count }} AS n{% for dimension in dimensions %}, {{ dimension }} AS d{{ loop.index0 }}{% endfor %}

    FROM {{ source }}
),
combinations AS (
    SELECT COUNT(*) AS combinations
    FROM (SELECT DISTINCT {% for _ in dimensions %}{{ ", " if not loop.first }}d{{ loop.index0 }}{% endfor %} FROM looked_at) AS seen
)
SELECT
    COUNT(*) AS total,
    MAX(combinations) AS combinations,
    SUM(CASE WHEN n < 0 OR n <> FLOOR(n) THEN 1 ELSE 0 END) AS strange
    {% for _ in dimensions %}
    , COUNT(DISTINCT d{{ loop.index0 }}) AS values_{{ loop.index0 }}
    {% endfor %}
FROM looked_at
CROSS JOIN combinations
