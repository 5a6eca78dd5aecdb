/* sqlaudit: cells_coded */
WITH target AS NOT MATERIALIZED (
    SELECT
        "room" AS q1,
        "ward" AS q2,
        "disease" AS s
    FROM patients
),
lanes AS NOT MATERIALIZED (
    SELECT lane, s, total
    FROM totals
),
dictionary_2 AS MATERIALIZED (
    SELECT v, CASE WHEN place < 32 THEN place END AS code
    FROM (
        SELECT v, ROW_NUMBER() OVER () AS place
        FROM (SELECT DISTINCT q2 AS v FROM target WHERE NOT q2 IS NULL) AS seen
    ) AS ordered
),
numbered AS NOT MATERIALIZED (
    SELECT
((0
            * 16 + CASE WHEN q1 IS NULL THEN 0 ELSE CAST(q1 AS BIGINT) - (-4) END)
            * 32 + dictionary_2.code)
            * 256 + CASE WHEN target.s IS NULL THEN 3 ELSE lanes.lane END AS cell,
(q1 IS NULL OR q1 BETWEEN -3 AND 11) AND 1 = 1 AS has_code
    FROM target
    LEFT JOIN lanes ON target.s = lanes.s
    LEFT JOIN dictionary_2 ON q2 = dictionary_2.v
)
SELECT CASE WHEN has_code THEN cell END AS cell, CAST(COUNT(*) AS INTEGER) AS c
FROM numbered
GROUP BY 1
ORDER BY 1
