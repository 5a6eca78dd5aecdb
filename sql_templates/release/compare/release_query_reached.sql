{# The shares of cells, with none for cells that can satisfy a query by values that no original row has. #}
SELECT cell, u, share
FROM {{ shares }}
UNION ALL
SELECT CAST(code AS INTEGER), 0, CAST(0 AS DOUBLE)
FROM {{ can }}
