{# How many values of a column are no key of another table. #}
SELECT COUNT(*) AS missing
FROM (SELECT DISTINCT {{ column }} AS value FROM {{ source }}) AS theirs
LEFT JOIN (SELECT {{ key }} AS value FROM {{ other }}) AS keys ON keys.value = theirs.value
WHERE keys.value IS NULL
