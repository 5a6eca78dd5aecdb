{# The rows that have an original; released rows without one stand for no one. #}
SELECT *
FROM {{ coded }}
WHERE q IS NOT NULL
