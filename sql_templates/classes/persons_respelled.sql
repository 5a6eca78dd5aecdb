{# How many persons are named in several ways that a reader takes for one, and the database does not: `as_read` is the name
   as its reader takes it. #}
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
    HAVING COUNT(DISTINCT person) > 1
) AS found
