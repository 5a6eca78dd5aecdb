{# Which class each tuple of the original lies in, where no value lies in two cells: the cells of its values say. #}
WITH
{% for cover in covers %}
home_{{ loop.index }} AS (
    SELECT cover.word, cover.cell
    FROM {{ cover }} AS cover
    JOIN (SELECT DISTINCT g{{ loop.index }} AS cell FROM {{ classes }} WHERE NOT is_whole) AS used
        ON cover.cell = used.cell
){{ "," if not loop.last }}
{% endfor %}
SELECT tuples.key AS a, classes.key AS c
FROM {{ tuples }} AS tuples
{% for cover in covers %}
JOIN home_{{ loop.index }} ON tuples.v{{ loop.index }} = home_{{ loop.index }}.word
{% endfor %}
JOIN {{ classes }} AS classes
    ON {% for cover in covers %}classes.g{{ loop.index }} = home_{{ loop.index }}.cell{{ " AND " if not loop.last }}{% endfor %}

WHERE NOT classes.is_whole
