/* sqlaudit: release_query_unreached */
SELECT readings.code, readings.t, readings.reading, readings.level
FROM patients AS readings
LEFT JOIN (SELECT DISTINCT cell FROM patients) AS shares ON readings.code = shares.cell
WHERE shares.cell IS NULL AND readings.reading <> 'value'
ORDER BY readings.code
LIMIT 200000
