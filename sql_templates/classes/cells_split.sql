{# Cells that were numbered, with the number of their class and their lane. #}
SELECT cell >> {{ lane_bits }} AS id, cell & {{ 2 ** lane_bits - 1 }} AS lane, CAST(c AS BIGINT) AS c
FROM {{ cells }} AS numbered
