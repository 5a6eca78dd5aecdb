{# Pairs of a value and a cell that it does not lie under, and their rows; `of_values` are those whose cell is a value. #}
SELECT
    CAST(COALESCE(SUM(pairs.n), 0) AS BIGINT) AS row_total,
    CAST(COALESCE(SUM(CASE WHEN cells.is_value THEN pairs.n ELSE 0 END), 0) AS BIGINT) AS of_values
FROM (
    SELECT v{{ place }} AS word, g{{ place }} AS cell, SUM(n) AS n
    FROM {{ source }}
    WHERE c IS NOT NULL
    GROUP BY v{{ place }}, g{{ place }}
) AS pairs
JOIN {{ cells }} AS cells ON pairs.cell = cells.code
LEFT JOIN {{ cover }} AS cover ON pairs.word = cover.word AND pairs.cell = cover.cell AND cover.fits
WHERE cover.word IS NULL
