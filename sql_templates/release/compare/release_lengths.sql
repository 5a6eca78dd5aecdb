{# The shortest and the longest value of the original, in characters. #}
SELECT MIN(LENGTH(key)) AS shortest, MAX(LENGTH(key)) AS longest
FROM {{ values }}
WHERE key IS NOT NULL
