{# For persons whom so many events single out: how many sets of theirs do, and the first of these, of the rarest events. #}
{% import "events/_events_sets.sql" as parts %}
WITH theirs AS (
    SELECT own.* FROM {{ own }} AS own JOIN {{ at_risk }} AS at_risk USING (person) WHERE at_risk.singled_out = {{ size }}
),
known AS (
    SELECT own1.person{% for place in range(1, size + 1) %}, own{{ place }}.event AS e{{ place }}{% endfor %}

    FROM {{ parts.of_persons("theirs", size) }}
{% if repeats %}
    WHERE {{ parts.is_whole(size) }}
{% endif %}
),
shared AS (
    SELECT DISTINCT known.*
    FROM known
{% for place in range(1, size + 1) %}
    JOIN {{ fits }} AS other{{ place }} ON other{{ place }}.event = known.e{{ place }} AND other{{ place }}.person {{ "<> known.person" if place == 1 else "= other1.person" }}
{% endfor %}
),
alone AS (
    SELECT * FROM known ANTI JOIN shared USING (person, {{ parts.names(size) }})
)
SELECT person, sets, {{ parts.names(size) }}
FROM (
    SELECT
        *,
        COUNT(*) OVER (PARTITION BY person) AS sets,
        ROW_NUMBER() OVER (PARTITION BY person ORDER BY {{ parts.names(size) }}) AS nth
    FROM alone
) AS counted
WHERE nth = 1
ORDER BY person
