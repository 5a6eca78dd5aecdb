{# The same by the numbers of the cells. #}
SELECT
    {% for cell in cells %}
    COALESCE(own_{{ loop.index }}.code, 0) AS g{{ loop.index }}, COALESCE(other_{{ loop.index }}.code, 0) AS h{{ loop.index }},
    {% endfor %}
    seen.n
FROM {{ seen }} AS seen
{% for cell in cells %}
LEFT JOIN {{ cell.own }} AS own_{{ loop.index }} ON seen.g{{ loop.index }} = own_{{ loop.index }}.t
LEFT JOIN {{ cell.other }} AS other_{{ loop.index }} ON seen.h{{ loop.index }} = other_{{ loop.index }}.t
{% endfor %}
