{# The rows under short names, with a number for each sensitive value: the one of its lane, or of another value that a
   reader takes for the same (`merged`: pairs of lanes). NULL stays NULL. No text of a value is in here. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
WITH {{ parts.target(source, keys, sensitive, entity, false) }},
{{ parts.lanes(none, text) }}
SELECT
    {% for key in keys %}
    target.q{{ loop.index }},
    {% endfor %}
    {% if entity is not none %}
    target.e,
    {% endif %}
    CASE lanes.lane{% for pair in merged %} WHEN {{ pair[0] }} THEN {{ pair[1] }}{% endfor %} ELSE lanes.lane END AS s
FROM target
LEFT JOIN lanes ON target.s = lanes.s
