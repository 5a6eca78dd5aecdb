/* sqlaudit: release_asked_shares */
SELECT
    0 AS query, 1 AS place, cover.cell,
    CAST(SUM(words.row_count) AS DOUBLE) / MAX(cells.covered_rows) AS share
FROM patients AS cover
JOIN patients AS words ON cover.word = words.id
JOIN patients AS cells ON cover.cell = cells.code
WHERE cover.word BETWEEN 0 AND 1
GROUP BY cover.cell
