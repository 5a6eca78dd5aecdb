{# Of single events: the smallest number of persons who have one, and how many fewer than k persons have. #}
SELECT MIN(persons) AS smallest, COUNT(*) FILTER (WHERE persons < {{ k }}) AS minimal
FROM {{ dictionary }}
WHERE repeated IS NULL
