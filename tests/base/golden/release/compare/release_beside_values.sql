/* sqlaudit: release_beside_values */
WITH
own_1 AS (
    SELECT cover.word, MIN(cover.cell) AS cell
    FROM own AS cover
    JOIN (SELECT DISTINCT g1 AS cell FROM classes WHERE NOT is_whole) AS used ON cover.cell = used.cell
    GROUP BY cover.word
),
other_1 AS (
    SELECT cover.word, MIN(cover.cell) AS cell
    FROM other AS cover
    JOIN (SELECT DISTINCT g1 AS cell FROM other_classes WHERE NOT is_whole) AS used ON cover.cell = used.cell
    GROUP BY cover.word
)
SELECT
    own_1.cell AS g1, other_1.cell AS h1,
    CAST(SUM(original.n) AS BIGINT) AS n
FROM patients AS original
JOIN own_1 ON original.v1 = own_1.word
JOIN other_1 ON original.v1 = other_1.word
GROUP BY own_1.cell, other_1.cell
