{# How many values a column has, without NULL. #}
SELECT COUNT(key)
FROM {{ codes }} AS codes
