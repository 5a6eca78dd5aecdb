{# The classes of several nodes, each from a finer one: `plan` are (finer node, node, masks of the key words). #}
SELECT
    plan.id,
{% for word in range(width) %}
    finer.k{{ word }} & plan.m{{ word }} AS k{{ word }},
{% endfor %}
    CAST(SUM(finer.n) AS BIGINT) AS n
{% for name, aggregate in words %}
    , CAST({{ aggregate }}(finer.{{ name }}) AS BIGINT) AS {{ name }}
{% endfor %}
FROM {{ finer }} AS finer
JOIN (
    VALUES
    {% for row in plan %}
        ({{ row | join(", ") }}){{ "," if not loop.last }}
    {% endfor %}
) AS plan(parent, id{% for word in range(width) %}, m{{ word }}{% endfor %}) ON finer.id = plan.parent
GROUP BY ALL
