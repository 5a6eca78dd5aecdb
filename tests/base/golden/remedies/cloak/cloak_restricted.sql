/* sqlaudit: cloak_restricted */
WITH boxes AS (
    SELECT
        "x_min" AS b1,
        COUNT(*) AS messages
    FROM patients
    WHERE "x_min" IS NOT NULL
    GROUP BY "x_min"
),
known AS (
    SELECT
        "x_min" AS p1,
        "owner" AS owner
    FROM patients
),
owned AS (
    SELECT b1, b2, b3, b4, messages, COUNT(DISTINCT owner) AS owners
    FROM boxes
    LEFT JOIN known ON b1 >= p1 AND b2 <= p2 AND b3 >= p3 AND b4 <= p4
    GROUP BY b1, b2, b3, b4, messages
)

SELECT
    COUNT(*) AS boxes,
    CAST(COALESCE(SUM(CASE WHEN owners > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS inside,
    CAST(COALESCE(SUM(CASE WHEN owners = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS exposed,
    CAST(COALESCE(SUM(CASE WHEN owners = 1 THEN messages ELSE 0 END), 0) AS BIGINT) AS messages,
    (
        SELECT COUNT(*)
        FROM known AS every_property
        WHERE p1 IS NULL OR p2 IS NULL OR p3 IS NULL OR p4 IS NULL OR owner IS NULL
    ) AS skipped
FROM owned
