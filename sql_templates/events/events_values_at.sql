{# The values of a column at some places in the order of all; only run when values may be shown. #}
SELECT place, value
FROM (
    SELECT value, ROW_NUMBER() OVER (ORDER BY value) AS place
    FROM (SELECT DISTINCT {{ column }} AS value FROM {{ source }} WHERE {{ column }} IS NOT NULL) AS seen
) AS placed
WHERE place IN ({% for place in places %}{{ place }}{{ ", " if not loop.last }}{% endfor %})
