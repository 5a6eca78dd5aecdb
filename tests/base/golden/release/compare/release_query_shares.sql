/* sqlaudit: release_query_shares */
SELECT cover.cell, words.u, CAST(SUM(words.row_count) AS DOUBLE) / MAX(cells.covered_rows) AS share
FROM patients AS cover
JOIN patients AS words ON cover.word = words.word
JOIN patients AS cells ON cover.cell = cells.code
GROUP BY cover.cell, words.u
