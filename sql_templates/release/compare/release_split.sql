{# Values with several cells among the rows that are not suppressed as a whole, from pairs of rows. #}
SELECT COUNT(*) AS split
FROM (
    SELECT pairs.v{{ place }}
    FROM {{ source }} AS pairs
    JOIN {{ classes }} AS classes ON pairs.c = classes.key
    WHERE NOT classes.is_whole
    GROUP BY pairs.v{{ place }}
    HAVING COUNT(DISTINCT pairs.g{{ place }}) > 1
) AS several
