/* sqlaudit: release_query_inside */
WITH asked AS (
    SELECT places.a, words_1.u AS u1, words_1.x AS x1, SUM(tuples.n) AS n
    FROM patients AS tuples
    JOIN patients AS places ON tuples.key = places.key
    JOIN patients AS words_1 ON tuples.v1 = words_1.word
    GROUP BY places.a, words_1.u, words_1.x
),
held AS (
    SELECT inside.c, asked.u1, asked.x1, SUM(asked.n) AS n
    FROM asked
    JOIN patients AS inside ON asked.a = inside.a
    GROUP BY inside.c, asked.u1, asked.x1
    UNION ALL
    SELECT whole.key, asked.u1, asked.x1, SUM(asked.n)
    FROM asked
    CROSS JOIN (SELECT key FROM patients WHERE is_whole) AS whole
    GROUP BY whole.key, asked.u1, asked.x1
)
SELECT held.c, held.u1, held.x1, CAST(held.n AS DOUBLE) / regions.region AS share
FROM held
JOIN patients AS regions ON held.c = regions.key
WHERE regions.region > 0
