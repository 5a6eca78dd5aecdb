{# For each set that several persons have: how many of these hold the same sensitive value, where somebody holds one. With
   `mixed` sets hold such values, too, and tell others than their own. #}
{% import "events/_events_sets.sql" as parts with context %}
SELECT {{ parts.names(size) }}, persons, MAX(holders) AS most
FROM (
    SELECT {% for place in range(1, size + 1) %}sets.e{{ place }}, {% endfor %}sets.persons, held.value, {{ "COUNT(DISTINCT held.person)" if sequence else "COUNT(*)" }} AS holders
    FROM {{ parts.of_persons(fits, size) }}
    JOIN {{ sets }} AS sets ON {{ parts.is_set(size, "sets") }} AND sets.persons >= 2
    JOIN {{ held }} AS held ON held.person = own1.person{% if mixed %} AND held.value NOT IN ({% for place in range(1, size + 1) %}own{{ place }}.event{{ ", " if not loop.last }}{% endfor %}){% endif %}

    GROUP BY {% for place in range(1, size + 1) %}sets.e{{ place }}, {% endfor %}sets.persons, held.value
) AS counted
GROUP BY {{ parts.names(size) }}, persons
