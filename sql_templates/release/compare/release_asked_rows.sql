{# Original rows by values and sensitive value. #}
SELECT q, {% for place in places %}v{{ place }}, {% endfor %}{{ lane ~ " AS lane" if lane else "0 AS lane" }}, CAST(SUM(n) AS BIGINT) AS n
FROM {{ source }}
WHERE q IS NOT NULL
GROUP BY ALL
