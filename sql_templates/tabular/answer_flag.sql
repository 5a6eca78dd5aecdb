{# Whether a column of numbers has a 1, and nothing but 0 and 1: then its sum is the number of rows with 1. #}
SELECT CASE WHEN MIN({{ value }}) >= 0 AND MAX({{ value }}) = 1 AND COUNT(CASE WHEN {{ value }} NOT IN (0, 1) THEN 1 END) = 0 THEN 1 ELSE 0 END AS is_flag
FROM {{ source }}
