{# The rows of events with what stays the same of their persons, from another table; missing where that has no such person. #}
SELECT
{% for name in names %}
    events.{{ name }},
{% endfor %}
{% for name in static %}
    persons.{{ name }},
{% endfor %}
    events.e
FROM {{ events }} AS events
LEFT JOIN {{ persons }} AS persons ON persons.e = events.e
