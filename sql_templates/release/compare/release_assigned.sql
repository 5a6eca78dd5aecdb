{# The original rows with the class that they must have gone to; those in none are suppressed. #}
SELECT
    original.* EXCLUDE (c),
    COALESCE(inside.c, suppressed.key) AS c,
    {% for place in places %}
    classes.g{{ place }}{{ "," if not loop.last }}
    {% endfor %}
FROM {{ original }} AS original
JOIN {{ placed }} AS placed ON original.q = placed.key
LEFT JOIN {{ inside }} AS inside ON placed.a = inside.a
LEFT JOIN (SELECT key FROM {{ classes }} WHERE is_whole) AS suppressed ON TRUE
LEFT JOIN {{ classes }} AS classes ON COALESCE(inside.c, suppressed.key) = classes.key
