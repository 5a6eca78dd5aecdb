{# The position of a number between the smallest and the largest of its column, in as many steps as the column has rows: what was
   shifted, scaled or rounded a little lies at the same position. #}
FLOOR((CAST({{ column }} AS DOUBLE) - (SELECT MIN(CAST({{ column }} AS DOUBLE)) FROM {{ source }})) * (SELECT CAST(COUNT(*) AS DOUBLE) / NULLIF(MAX(CAST({{ column }} AS DOUBLE)) - MIN(CAST({{ column }} AS DOUBLE)), 0) FROM {{ source }}))
