{# How many events the persons at these places have, in the order of their numbers. #}
SELECT place, events
FROM (SELECT ROW_NUMBER() OVER (ORDER BY person) - 1 AS place, events FROM {{ state }}) AS placed
JOIN {{ drawn }} USING (place)
ORDER BY place
