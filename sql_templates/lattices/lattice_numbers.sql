{# The codes of a column by the numbers of its values. #}
SELECT id, {{ key | join(", ") }}, z
FROM {{ codes }} AS codes
ORDER BY id
