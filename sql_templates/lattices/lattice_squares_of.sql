{# The sum of the squared rows of some classes. #}
SELECT COALESCE(SUM(CAST(n AS {{ wide }}) * n), 0) AS squares
FROM {{ classes }} AS classes
