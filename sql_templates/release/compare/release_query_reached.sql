{# The shares of cells, with none for cells that can satisfy a query by values that no original row has. #}
SELECT cell, u, {{ "x, " if signed }}share
FROM {{ shares }}
UNION ALL
SELECT CAST(can.code AS INTEGER), 0, {{ "can.x, " if signed }}CAST(0 AS DOUBLE)
FROM {{ can }} AS can
{% if signed %}
WHERE NOT EXISTS (SELECT 1 FROM {{ shares }} AS shares WHERE shares.cell = can.code AND shares.x = can.x)
{% endif %}
