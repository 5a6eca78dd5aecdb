{# How many persons are named in several ways that a reader takes for one: `as_read` is the name as its reader takes it. #}
SELECT COUNT(*) AS persons
FROM (
    SELECT {{ as_read }} AS reading
    FROM (
        {% for place in places %}
        SELECT {{ place.value }} AS person FROM {{ place.source }}
        {{ "UNION ALL" if not loop.last }}
        {% endfor %}
    ) AS named
    WHERE person IS NOT NULL
    GROUP BY {{ as_read }}
    HAVING MIN(CAST(person AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }}) <> MAX(CAST(person AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }})
) AS found
