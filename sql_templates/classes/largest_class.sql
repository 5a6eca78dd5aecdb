{# The number of rows of the largest class. #}
SELECT MAX(n) AS largest
FROM {{ classes }} AS class
