{# The share of the original rows under each cell that a query asks for. #}
SELECT cover.cell, words.u, {{ "words.x, " if signed }}CAST(SUM(words.row_count) AS DOUBLE) / MAX(cells.covered_rows) AS share
FROM {{ cover }} AS cover
JOIN {{ words }} AS words ON cover.word = words.word
JOIN {{ cells }} AS cells ON cover.cell = cells.code
GROUP BY cover.cell, words.u{{ ", words.x" if signed }}
