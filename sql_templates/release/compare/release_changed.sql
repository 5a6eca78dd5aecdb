{# Pairs whose sensitive value was changed. #}
SELECT CAST(COALESCE(SUM(CASE WHEN c IS NOT NULL AND s{{ place }} <> z{{ place }} THEN n ELSE 0 END), 0) AS BIGINT) AS changed
FROM {{ source }}
