{# For each set that several persons have: how many of these hold the same sensitive value, where somebody holds one. With
   `mixed` sets hold such values, too, and tell others than their own. Only sets of the `remaining` people, of whom nothing
   is told yet, or all. They are few: the LEFT JOIN keeps the values of everybody from being joined first (see `is_found`). #}
{% import "events/_events_sets.sql" as parts with context %}
WITH
{% if remaining %}
people AS (
    SELECT person, event{{ ", moment" if sequence }}
    FROM {{ own }}
    ANTI JOIN {{ told }} USING (person)
{% if whole - allowed >= least %}
    ANTI JOIN {{ alone }} USING (person)
{% endif %}
),
{% endif %}
several AS (
{% if remaining %}
    SELECT DISTINCT {{ parts.names(size) }}, sets.persons
    FROM {{ parts.of_persons("people", size) }}
    JOIN {{ sets }} AS sets ON {{ parts.is_set(size, "sets") }}
    WHERE sets.persons >= 2
{% else %}
    SELECT {{ parts.names(size) }}, persons FROM {{ sets }} WHERE persons >= 2
{% endif %}
)
SELECT {{ parts.names(size) }}, persons, MAX(holders) AS most
FROM (
    SELECT {% for place in range(1, size + 1) %}sets.e{{ place }}, {% endfor %}sets.persons, held.value, {{ "COUNT(DISTINCT held.person)" if sequence else "COUNT(*)" }} AS holders
    FROM {{ parts.of_persons(fits, size) }}
    JOIN several AS sets ON {{ parts.is_set(size, "sets") }}
    {{ "LEFT " if remaining }}JOIN {{ held }} AS held ON held.person = own1.person{% if mixed %} AND held.value NOT IN ({% for place in range(1, size + 1) %}own{{ place }}.event{{ ", " if not loop.last }}{% endfor %}){% endif %}

{% if remaining %}
    WHERE {{ parts.is_found("held.value", "own1.person") }}
{% endif %}
    GROUP BY {% for place in range(1, size + 1) %}sets.e{{ place }}, {% endfor %}sets.persons, held.value
) AS counted
GROUP BY {{ parts.names(size) }}, persons
