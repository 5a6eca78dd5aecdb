{# Nodes that are grouped in several relations as one: (relation, number of its first node). #}
{% for grouped, first in segments %}
SELECT * REPLACE (id + {{ first }} AS id) FROM {{ grouped }}{{ " UNION ALL" if not loop.last }}
{% endfor %}
