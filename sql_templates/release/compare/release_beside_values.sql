{# Original rows by the cell that each of their values has in two releases, where every value has one cell in each. Rows
   with a value that one of them suppressed everywhere are left out. #}
WITH
{% for cover in covers %}
own_{{ cover.place }} AS (
    SELECT cover.word, MIN(cover.cell) AS cell
    FROM {{ cover.own }} AS cover
    JOIN (SELECT DISTINCT g{{ cover.place }} AS cell FROM {{ classes }} WHERE NOT is_whole) AS used ON cover.cell = used.cell
    GROUP BY cover.word
),
other_{{ cover.place }} AS (
    SELECT cover.word, MIN(cover.cell) AS cell
    FROM {{ cover.other }} AS cover
    JOIN (SELECT DISTINCT g{{ cover.place }} AS cell FROM {{ other_classes }} WHERE NOT is_whole) AS used ON cover.cell = used.cell
    GROUP BY cover.word
){{ "," if not loop.last }}
{% endfor %}
SELECT
    {% for place in places %}
    own_{{ place }}.cell AS g{{ place }}, other_{{ place }}.cell AS h{{ place }},
    {% endfor %}
    CAST(SUM(original.n) AS BIGINT) AS n
FROM {{ source }} AS original
{% for place in places %}
JOIN own_{{ place }} ON original.v{{ place }} = own_{{ place }}.word
JOIN other_{{ place }} ON original.v{{ place }} = other_{{ place }}.word
{% endfor %}
GROUP BY {% for place in places %}own_{{ place }}.cell, other_{{ place }}.cell{{ ", " if not loop.last }}{% endfor %}
