/* sqlaudit: release_crowded */
WITH held AS (
    SELECT inside.c, SUM(original.n) AS n
    FROM patients AS inside
    JOIN patients AS places ON inside.a = places.a
    JOIN patients AS original ON places.key = original.q
    GROUP BY inside.c
),
released AS (
    SELECT release.c, SUM(release.n) AS n
    FROM patients AS release
    JOIN patients AS classes ON release.c = classes.key
    WHERE NOT classes.is_whole
    GROUP BY release.c
)
SELECT CAST(COALESCE(SUM(GREATEST(released.n - COALESCE(held.n, 0), 0)), 0) AS BIGINT) AS too_many
FROM released
LEFT JOIN held ON released.c = held.c
