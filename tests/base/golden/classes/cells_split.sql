/* sqlaudit: cells_split */
SELECT cell >> 8 AS id, cell & 255 AS lane, CAST(c AS BIGINT) AS c
FROM patients AS numbered
