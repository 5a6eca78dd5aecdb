/* sqlaudit: release_split */
SELECT COUNT(*) AS split
FROM (
    SELECT pairs.v1
    FROM patients AS pairs
    JOIN patients AS classes ON pairs.c = classes.key
    WHERE NOT classes.is_whole
    GROUP BY pairs.v1
    HAVING COUNT(DISTINCT pairs.g1) > 1
) AS several
