{# The sum of the squared rows of some classes, and of their rows times the logarithm of these. #}
SELECT
    COALESCE(SUM(CAST(n AS {{ wide }}) * n), 0) AS squares,
    COALESCE(SUM(n * LN(CAST(n AS DOUBLE))), 0) AS logarithms
FROM {{ classes }} AS classes
