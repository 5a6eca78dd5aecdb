{# The weights of labels by the bits of the key that say them: `labels` are (position, level, codes, masks). #}
{% for label in labels %}
SELECT DISTINCT
    {{ label.position }} AS position, {{ label.level }} AS level,
    {% for mask in label.masks %}
    codes.k{{ loop.index0 }} & {{ mask }} AS k{{ loop.index0 }},
    {% endfor %}
    given.weight
FROM {{ label.codes }} AS codes
JOIN {{ given }} AS given
    ON given.position = {{ label.position }} AND given.level = {{ label.level }}
    AND given.label IS NOT DISTINCT FROM codes.l{{ label.level }}
{{ "UNION ALL" if not loop.last }}
{% endfor %}
