{# The rows of one table alone, counted by what they hold: of the original its values, of the release the texts of its
   cells. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
{% set own = side == "original" %}
WITH target AS (
    SELECT
        {% for column in columns %}
        {% if own %}
        {{ parts.key(column.original, column.kind) if column.as_text else column.original }} AS v{{ loop.index }},
        {% else %}
        CAST({{ column.release }} AS TEXT) AS g{{ loop.index }},
        {% endif %}
        {% endfor %}
        {% for attribute in sensitive %}
        CAST({{ attribute.original if own else attribute.release }} AS TEXT) AS {{ "s" if own else "z" }}{{ loop.index }},
        {% endfor %}
        1 AS here
    FROM {{ source }}
)
SELECT
    {{ "here" if own else "CAST(NULL AS INTEGER)" }} AS in_original,
    {{ "CAST(NULL AS INTEGER)" if own else "here" }} AS in_release,
    {% for column in columns %}
    {{ "v" if own else "g" }}{{ loop.index }},
    {% endfor %}
    {% for attribute in sensitive %}
    {{ "s" if own else "z" }}{{ loop.index }},
    {% endfor %}
    {{ "CAST(COUNT(*) AS BIGINT)" if counted else "here" }} AS n
FROM target
{% if counted %}
GROUP BY here{% for column in columns %}, {{ "v" if own else "g" }}{{ loop.index }}{% endfor %}{% for attribute in sensitive %}, {{ "s" if own else "z" }}{{ loop.index }}{% endfor %}

{% endif %}
