{# Cells under which no original row satisfies a query; a value of the original stands for itself alone. #}
SELECT readings.code, readings.t, readings.reading, readings.level
FROM {{ readings }} AS readings
LEFT JOIN (SELECT DISTINCT cell FROM {{ shares }}) AS shares ON readings.code = shares.cell
WHERE {{ "shares.cell IS NULL AND " if not everything }}readings.reading <> 'value'
ORDER BY readings.code
LIMIT {{ limit }}
