/* sqlaudit: release_beside */
SELECT
    g1, h1,
    CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT
        "id" AS k1,
        CAST("age" AS TEXT) AS g1
    FROM patients
) AS released
JOIN (
    SELECT
        "id" AS k1,
        CAST("age" AS TEXT) AS h1
    FROM patients
) AS others ON released.k1 = others.k1
GROUP BY g1, h1
