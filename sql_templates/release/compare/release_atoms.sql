{# Values that lie in the same cells are one atom: no cell tells them apart. #}
SELECT
    words.id AS word,
    CAST(DENSE_RANK() OVER (ORDER BY COALESCE(inside.cells, [])) AS INTEGER) AS atom
FROM {{ values }} AS words
LEFT JOIN (
    SELECT cover.word, LIST(cover.cell ORDER BY cover.cell) AS cells
    FROM {{ cover }} AS cover
    JOIN (SELECT DISTINCT g{{ place }} AS cell FROM {{ classes }} WHERE NOT is_whole) AS used
        ON cover.cell = used.cell
    GROUP BY cover.word
) AS inside ON words.id = inside.word
