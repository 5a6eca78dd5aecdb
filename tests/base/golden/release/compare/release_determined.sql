/* sqlaudit: release_determined */
SELECT
    (SELECT COUNT(*) FROM patients WHERE NOT is_whole AND n <> region) AS unequal,
    (
        SELECT COUNT(*)
        FROM (SELECT a FROM patients GROUP BY a HAVING COUNT(*) > 1) AS shared
    ) AS shared,
    (
        SELECT COALESCE(SUM(places.n), 0)
        FROM patients AS places
        WHERE places.a NOT IN (SELECT a FROM patients)
    ) AS outside,
    (SELECT COALESCE(SUM(n), 0) FROM patients WHERE is_whole) AS suppressed,
    (SELECT COUNT(*) FROM patients WHERE is_whole) AS suppressed_classes
