/* sqlaudit: columns_count_persons */
SELECT
    0 AS set_number,
    SUM(CASE WHEN solo = 1 THEN person_rows WHEN is_first = 1 THEN 1 ELSE 0 END) AS classes,
    MIN(CASE WHEN solo = 1 THEN 1 ELSE members END) AS smallest,
    COUNT(DISTINCT CASE WHEN solo = 1 OR members < 2 THEN e END) AS at_risk,
    COUNT(DISTINCT CASE WHEN solo = 1 OR members = 1 THEN e END) AS alone,
    NULL AS pairs
FROM (
    SELECT
        e,
        solo,
        person_rows,
        COUNT(*) OVER (PARTITION BY 1) AS members,
        CASE WHEN ROW_NUMBER() OVER (PARTITION BY 1 ORDER BY e) = 1 THEN 1 ELSE 0 END AS is_first
    FROM (
        SELECT
            e,
            0 AS solo,
            COUNT(*) AS person_rows
        FROM patients
        GROUP BY e
    ) AS persons
) AS classes
