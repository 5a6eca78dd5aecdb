/* sqlaudit: largest_class_of_sample */
WITH target AS NOT MATERIALIZED (
    SELECT
        zip AS q1,
        NULL AS s
    FROM patients
)
SELECT MAX(n) AS largest
FROM (
    SELECT COUNT(*) AS n
    FROM (SELECT q1 FROM target USING SAMPLE 5 PERCENT (SYSTEM, 7)) AS sampled
    GROUP BY q1
) AS counted
