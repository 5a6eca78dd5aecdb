{# The different tuples of the original with what places them among the classes: the one class that they lie in, or the
   number by which `inside` knows them. #}
SELECT
    {% for place in places %}
    CAST(tuples.v{{ place }} AS INTEGER) AS v{{ place }},
    {% endfor %}
    {{ "inside.c" if disjoint else "placed.a" }} AS home,
    CAST(tuples.n AS DOUBLE) AS n
FROM {{ tuples }} AS tuples
JOIN {{ placed }} AS placed ON tuples.key = placed.key
{% if disjoint %}
LEFT JOIN {{ inside }} AS inside ON placed.a = inside.a
{% endif %}
