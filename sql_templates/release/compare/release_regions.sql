{# For each class the original rows that lie in it. #}
SELECT
    classes.key, classes.n, classes.is_whole,
    CAST(CASE WHEN classes.is_whole THEN {{ rows }} ELSE COALESCE(regions.region, 0) END AS BIGINT) AS region
FROM {{ classes }} AS classes
LEFT JOIN (
    SELECT inside.c, SUM(places.n) AS region
    FROM {{ inside }} AS inside
    JOIN (SELECT a, SUM(n) AS n FROM {{ places }} GROUP BY a) AS places ON inside.a = places.a
    GROUP BY inside.c
) AS regions ON classes.key = regions.c
