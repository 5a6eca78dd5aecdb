/* sqlaudit: release_overlap */
SELECT COUNT(*) AS split
FROM (
    SELECT cover.word
    FROM patients AS cover
    JOIN (SELECT DISTINCT g1 AS cell FROM patients WHERE NOT is_whole) AS used ON cover.cell = used.cell
    GROUP BY cover.word
    HAVING COUNT(*) > 1
) AS several
