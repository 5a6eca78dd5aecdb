/* sqlaudit: bucketized */
WITH known AS (
    SELECT "id" AS k1, "age" AS q1, "disease" AS s1, 1 AS present
    FROM patients AS listed
),
persons AS (
    SELECT "id" AS k1, "age" AS q1, "room" AS bucket, 1 AS present
    FROM patients AS listed
),
linked AS (
    SELECT
        known.present AS of_known,
        persons.present AS of_persons,
        CASE WHEN known.q1 IS DISTINCT FROM persons.q1 THEN 1 ELSE 0 END AS moved,
        persons.bucket AS bucket, known.s1 AS s1
    FROM known
    FULL OUTER JOIN persons ON known.k1 = persons.k1
)
SELECT
    COUNT(CASE WHEN of_persons IS NULL THEN 1 END) AS missing,
    COUNT(CASE WHEN of_known IS NULL THEN 1 END) AS strangers,
    COUNT(CASE WHEN of_known = 1 AND of_persons = 1 AND moved = 1 THEN 1 END) AS moved_rows,
    (
        SELECT COALESCE(SUM(CASE WHEN surplus > 0 THEN surplus ELSE 0 END), 0)
        FROM (
            SELECT SUM(c) AS surplus
            FROM (
                SELECT bucket, s1 AS s, -1 AS c FROM linked WHERE of_known = 1 AND of_persons = 1
                UNION ALL
                SELECT "room" AS bucket, "disease" AS s, 1 AS c FROM patients AS listed
            ) AS both_sides
            GROUP BY bucket, s
        ) AS compared
    ) AS surplus_1
FROM linked
