{# Where the values of an ordered column lie, in the order of their numbers. #}
SELECT {{ "EPOCH(CAST(v AS TIMESTAMP))" if times else "CAST(v AS DOUBLE)" }} AS point
FROM {{ values }} AS dictionary
ORDER BY id
