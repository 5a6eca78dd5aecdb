/* sqlaudit: release_atoms */
SELECT
    words.id AS word,
    CAST(DENSE_RANK() OVER (ORDER BY COALESCE(inside.cells, [])) AS INTEGER) AS atom
FROM patients AS words
LEFT JOIN (
    SELECT cover.word, LIST(cover.cell ORDER BY cover.cell) AS cells
    FROM patients AS cover
    JOIN (SELECT DISTINCT g1 AS cell FROM patients WHERE NOT is_whole) AS used
        ON cover.cell = used.cell
    GROUP BY cover.word
) AS inside ON words.id = inside.word
