{# The share of the original rows in the region of each class that a query asks for. #}
WITH asked AS (
    SELECT places.a, {% for place in places_of %}words_{{ place }}.u AS u{{ place }}, {{ "words_" ~ place ~ ".x AS x" ~ place ~ ", " if place in linked }}{% endfor %}SUM(tuples.n) AS n
    FROM {{ tuples }} AS tuples
    JOIN {{ places }} AS places ON tuples.key = places.key
    {% for place in places_of %}
    JOIN {{ words[loop.index0] }} AS words_{{ place }} ON tuples.v{{ place }} = words_{{ place }}.word
    {% endfor %}
    GROUP BY places.a{% for place in places_of %}, words_{{ place }}.u{{ ", words_" ~ place ~ ".x" if place in linked }}{% endfor %}

),
held AS (
    SELECT inside.c, {% for place in places_of %}asked.u{{ place }}, {{ "asked.x" ~ place ~ ", " if place in linked }}{% endfor %}SUM(asked.n) AS n
    FROM asked
    JOIN {{ inside }} AS inside ON asked.a = inside.a
    GROUP BY inside.c{% for place in places_of %}, asked.u{{ place }}{{ ", asked.x" ~ place if place in linked }}{% endfor %}

    UNION ALL
    SELECT whole.key, {% for place in places_of %}asked.u{{ place }}, {{ "asked.x" ~ place ~ ", " if place in linked }}{% endfor %}SUM(asked.n)
    FROM asked
    CROSS JOIN (SELECT key FROM {{ regions }} WHERE is_whole) AS whole
    GROUP BY whole.key{% for place in places_of %}, asked.u{{ place }}{{ ", asked.x" ~ place if place in linked }}{% endfor %}

)
SELECT held.c, {% for place in places_of %}held.u{{ place }}, {{ "held.x" ~ place ~ ", " if place in linked }}{% endfor %}CAST(held.n AS DOUBLE) / regions.region AS share
FROM held
JOIN {{ regions }} AS regions ON held.c = regions.key
WHERE regions.region > 0
