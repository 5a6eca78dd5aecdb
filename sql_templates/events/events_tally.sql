{# In how many minimal sets below k each event is, so far. #}
SELECT event, SUM(sets) AS sets
FROM (
    SELECT event, sets FROM {{ tally }}
{% for place in range(1, size + 1) %}
    UNION ALL
    SELECT {{ "ABS(e" ~ place ~ ")" if sequence else "e" ~ place }}, COUNT(*)
    FROM {{ sets }}
    WHERE persons < {{ k }}{{ " AND least_part >= " ~ k if size > 1 }}
    GROUP BY {{ "ABS(e" ~ place ~ ")" if sequence else "e" ~ place }}
{% endfor %}
) AS counted
GROUP BY event
