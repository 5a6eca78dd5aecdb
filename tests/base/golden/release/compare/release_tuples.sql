/* sqlaudit: release_tuples */
SELECT
    q AS key,
    ANY_VALUE(v1) AS v1,
    CAST(SUM(n) AS BIGINT) AS n
FROM patients
WHERE q IS NOT NULL
GROUP BY q
