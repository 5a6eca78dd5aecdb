{# How many tuples lie in several classes. #}
SELECT COUNT(*) AS shared
FROM (
    SELECT a
    FROM {{ inside }}
    GROUP BY a
    HAVING COUNT(*) > 1
) AS several
