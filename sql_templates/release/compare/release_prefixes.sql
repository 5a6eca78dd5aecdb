{# Different beginnings of tuples, one column longer than before: `p` was the number of the beginning, `next` is. #}
SELECT *, DENSE_RANK() OVER (ORDER BY p, {{ column }}) AS next
FROM (
    SELECT * EXCLUDE (p, next), next AS p
    FROM {{ source }}
) AS shorter
