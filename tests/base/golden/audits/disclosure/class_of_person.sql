/* sqlaudit: class_of_person */
WITH target AS NOT MATERIALIZED (
    SELECT
        "room" AS q1,
        "disease" AS s
    FROM patients
),
lanes AS MATERIALIZED (
    SELECT
        s,
        total,
        ROW_NUMBER() OVER (ORDER BY s NULLS LAST) - 1 AS lane
    FROM (
        SELECT
            s,
            COUNT(*) AS total
        FROM target
        GROUP BY s
    ) AS seen
),
person AS MATERIALIZED (
    SELECT DISTINCT q1
    FROM target
    WHERE q1 IS NOT DISTINCT FROM $1
)
SELECT
person.q1, 
    COALESCE(lanes.lane, 0) AS lane,
    COUNT(*) AS c
FROM target
JOIN person ON target.q1 IS NOT DISTINCT FROM person.q1
LEFT JOIN lanes ON target.s = lanes.s
GROUP BY person.q1, lanes.lane
