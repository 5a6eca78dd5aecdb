{# Each original row beside its released row, counted by what both hold. Rows of one side alone stay, with nothing on the
   other: `in_original` and `in_release` say which. #}
{% import "hierarchies/_hierarchy.sql" as parts with context %}
WITH original AS (
    SELECT
        1 AS here,
        {% for key in keys %}
        {{ key.original }} AS k{{ loop.index }},
        {% endfor %}
        {% for column in columns %}
        {{ parts.key(column.original, column.kind) if column.as_text else column.original }} AS v{{ loop.index }},
        {% endfor %}
        {% for attribute in sensitive %}
        CAST({{ attribute.original }} AS TEXT) AS s{{ loop.index }},
        {% endfor %}
        0 AS nothing
    FROM {{ original }}
),
released AS (
    SELECT
        1 AS here,
        {% for key in keys %}
        {{ key.release }} AS k{{ loop.index }},
        {% endfor %}
        {% for column in columns %}
        CAST({{ column.release }} AS TEXT) AS g{{ loop.index }},
        {% endfor %}
        {% for attribute in sensitive %}
        CAST({{ attribute.release }} AS TEXT) AS z{{ loop.index }},
        {% endfor %}
        0 AS nothing
    FROM {{ release }}
)
SELECT
    original.here AS in_original,
    released.here AS in_release,
    {% for column in columns %}
    v{{ loop.index }}, g{{ loop.index }},
    {% endfor %}
    {% for attribute in sensitive %}
    s{{ loop.index }}, z{{ loop.index }},
    {% endfor %}
    {{ "CAST(COUNT(*) AS BIGINT)" if counted else "1" }} AS n
FROM original
FULL JOIN released ON {% for key in keys %}original.k{{ loop.index }} = released.k{{ loop.index }}{{ " AND " if not loop.last }}{% endfor %}

{% if counted %}
GROUP BY original.here, released.here{% for column in columns %}, v{{ loop.index }}, g{{ loop.index }}{% endfor %}{% for attribute in sensitive %}, s{{ loop.index }}, z{{ loop.index }}{% endfor %}

{% endif %}
