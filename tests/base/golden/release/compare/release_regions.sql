/* sqlaudit: release_regions */
SELECT
    classes.key, classes.n, classes.is_whole,
    CAST(CASE WHEN classes.is_whole THEN 1 ELSE COALESCE(regions.region, 0) END AS BIGINT) AS region
FROM patients AS classes
LEFT JOIN (
    SELECT inside.c, SUM(places.n) AS region
    FROM patients AS inside
    JOIN (SELECT a, SUM(n) AS n FROM patients GROUP BY a) AS places ON inside.a = places.a
    GROUP BY inside.c
) AS regions ON classes.key = regions.c
