{# What a query counts in one table: rows, the sum of its column and the rows that have one, by the texts of its keys. #}
SELECT
    {% for key in keys %}
    k{{ loop.index }},
    {% endfor %}
    CAST(COUNT(*) AS BIGINT) AS n,
    CAST(SUM(x) AS DOUBLE PRECISION) AS total,
    CAST(COUNT(x) AS BIGINT) AS present
FROM (
    SELECT
        {% for key in keys %}
        CAST({{ key }} AS TEXT) AS k{{ loop.index }},
        {% endfor %}
        {{ summed if summed else "CAST(NULL AS DOUBLE PRECISION)" }} AS x
    FROM {{ source }}
    {% for condition in conditions %}
    {{ "WHERE" if loop.first else "AND" }} ({{ condition }})
    {% endfor %}
) AS selected
{% if keys %}
GROUP BY {% for key in keys %}k{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

{% endif %}
