{# Places of some codes of a column in the order of all. #}
SELECT code, place
FROM (
    SELECT code, ROW_NUMBER() OVER (ORDER BY code) AS place
    FROM (SELECT DISTINCT {{ column }} AS code FROM {{ source }} WHERE {{ column }} <> 0) AS codes
) AS placed
WHERE code IN ({% for code in codes %}{{ code }}{{ ", " if not loop.last }}{% endfor %})
