{# Rows that two releases have in common, counted by the texts of their cells in both. #}
SELECT
    {% for column in columns %}
    g{{ loop.index }}, h{{ loop.index }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS n
FROM (
    SELECT
        {% for key in keys %}
        {{ key.own }} AS k{{ loop.index }},
        {% endfor %}
        {% for column in columns %}
        CAST({{ column.own }} AS TEXT) AS g{{ loop.index }}{{ "," if not loop.last }}
        {% endfor %}
    FROM {{ release }}
) AS released
JOIN (
    SELECT
        {% for key in keys %}
        {{ key.other }} AS k{{ loop.index }},
        {% endfor %}
        {% for column in columns %}
        CAST({{ column.other }} AS TEXT) AS h{{ loop.index }}{{ "," if not loop.last }}
        {% endfor %}
    FROM {{ other }}
) AS others ON {% for key in keys %}released.k{{ loop.index }} = others.k{{ loop.index }}{{ " AND " if not loop.last }}{% endfor %}

GROUP BY {% for column in columns %}g{{ loop.index }}, h{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}
