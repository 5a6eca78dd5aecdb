{# Whether counts alone say which class each original row went to: classes that are not full, tuples in several classes,
   original rows in no class, suppressed rows of the release and the classes that they form. #}
SELECT
    (SELECT COUNT(*) FROM {{ regions }} WHERE NOT is_whole AND n <> region) AS unequal,
    (
        SELECT COUNT(*)
        FROM (SELECT a FROM {{ inside }} GROUP BY a HAVING COUNT(*) > 1) AS shared
    ) AS shared,
    (
        SELECT COALESCE(SUM(places.n), 0)
        FROM {{ places }} AS places
        WHERE places.a NOT IN (SELECT a FROM {{ inside }})
    ) AS outside,
    (SELECT COALESCE(SUM(n), 0) FROM {{ regions }} WHERE is_whole) AS suppressed,
    (SELECT COUNT(*) FROM {{ regions }} WHERE is_whole) AS suppressed_classes
