/* sqlaudit: cloak_levels */
WITH boxes AS (
    SELECT
        outcome, level, x_min, x_max, y_min, y_max, t_min, t_max,
        COUNT(*) AS messages,
        COUNT(DISTINCT person) AS users,
        MAX(k) AS wanted
    FROM patients
    GROUP BY outcome, level, x_min, x_max, y_min, y_max, t_min, t_max
)

SELECT
    outcome,
    level,
    COUNT(*) AS boxes,
    CAST(SUM(messages) AS BIGINT) AS messages,
    MIN(users) AS fewest_users,
    CAST(SUM(CASE WHEN users < wanted THEN 1 ELSE 0 END) AS BIGINT) AS short
FROM boxes
GROUP BY outcome, level
ORDER BY outcome, level
