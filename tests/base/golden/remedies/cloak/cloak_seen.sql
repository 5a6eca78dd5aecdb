/* sqlaudit: cloak_seen */
WITH sent AS (
    SELECT
        "x_min" AS b1,
        NULL AS person,
        COUNT(*) AS messages
    FROM patients
    WHERE "x_min" IS NOT NULL
    GROUP BY "x_min"
),
seen AS (
    SELECT CAST("who" AS VARCHAR) AS who, "x" AS x, "y" AS y, "sent" AS t
    FROM patients
    WHERE "who" IS NOT NULL AND "x" IS NOT NULL AND "y" IS NOT NULL AND "sent" IS NOT NULL
),
met AS (
    SELECT b1, b2, b3, b4, b5, b6, person, messages, who
    FROM sent
    LEFT JOIN seen
        ON x >= b1 AND x <= b2 AND (x < b2 OR x = b1)
        AND y >= b3 AND y <= b4 AND (y < b4 OR y = b3)
        AND t >= b5 AND t <= b6 AND (t < b6 OR t = b5)
    GROUP BY b1, b2, b3, b4, b5, b6, person, messages, who
),
held AS (
    SELECT
        b1, b2, b3, b4, b5, b6,
        COUNT(DISTINCT who) AS users,
        CAST(SUM(messages) AS BIGINT) AS messages_by_user,
        CAST(SUM(CASE WHEN person = who THEN messages ELSE 0 END) AS BIGINT) AS by_themselves
    FROM met
    GROUP BY b1, b2, b3, b4, b5, b6
),
counted AS (
    SELECT users, messages_by_user // GREATEST(users, 1) AS messages, by_themselves
    FROM held
)

SELECT
    COUNT(*) AS boxes,
    CAST(COALESCE(SUM(messages), 0) AS BIGINT) AS messages,
    MIN(users) AS fewest_users,
    CAST(COALESCE(SUM(CASE WHEN users < 3 THEN 1 ELSE 0 END), 0) AS BIGINT) AS failing_boxes,
    CAST(COALESCE(SUM(CASE WHEN users < 3 THEN messages ELSE 0 END), 0) AS BIGINT) AS failing_messages,
    CAST(COALESCE(SUM(CASE WHEN users > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS observed,
    CAST(COALESCE(SUM(CASE WHEN users = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS linkable,
    CAST(COALESCE(SUM(CASE WHEN users = 1 THEN messages ELSE 0 END), 0) AS BIGINT) AS linkable_messages,
    CAST(COALESCE(SUM(CASE WHEN users = 1 THEN by_themselves ELSE 0 END), 0) AS BIGINT) AS right_messages,
    (
        SELECT COUNT(*)
        FROM patients AS every_point
        WHERE "who" IS NULL OR "x" IS NULL OR "y" IS NULL OR "sent" IS NULL
    ) AS skipped
FROM counted
