{# Released rows by cells and sensitive value. #}
SELECT c, {% for place in places %}g{{ place }}, {% endfor %}{{ lane ~ " AS lane" if lane else "0 AS lane" }}, CAST(SUM(n) AS BIGINT) AS m
FROM {{ source }}
WHERE c IS NOT NULL
GROUP BY ALL
