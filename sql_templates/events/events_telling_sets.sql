{# For persons whom so many events single out: how many sets of theirs do, and the first of these, of the rarest events. #}
{% import "events/_events_sets.sql" as parts with context %}
WITH theirs AS (
    SELECT own.* FROM {{ own }} AS own JOIN {{ at_risk }} AS at_risk USING (person) WHERE at_risk.singled_out = {{ size }}
),
known AS MATERIALIZED (
    SELECT own1.person{% for place in range(1, size + 1) %}, own{{ place }}.event AS e{{ place }}{{ ", own" ~ place ~ ".moment AS t" ~ place if sequence }}{% endfor %}

    FROM {{ parts.of_persons("theirs", size) }}
{% if repeats %}
    WHERE {{ parts.is_whole(size) }}
{% endif %}
),
shared AS (
    SELECT DISTINCT known.*
    FROM known
{% for place in range(1, size + 1) %}
    {{ "LEFT " if place > 1 }}JOIN {{ fits }} AS other{{ place }} ON other{{ place }}.event = known.e{{ place }} AND other{{ place }}.person {{ "<> known.person" if place == 1 else "= other1.person" }}{{ " AND SIGN(other" ~ place ~ ".moment - other" ~ (place - 1) ~ ".moment) = SIGN(known.t" ~ place ~ " - known.t" ~ (place - 1) ~ ")" if sequence and place > 1 }}
{% endfor %}
{% for place in range(2, size + 1) %}
    {{ "WHERE" if loop.first else "  AND" }} {{ parts.is_found("other" ~ place ~ ".person", "known.person") }}
{% endfor %}
),
alone AS (
{% if sequence %}
    SELECT DISTINCT
        person{% for place in range(1, size + 1) %}, {{ "CASE WHEN t" ~ place ~ " > t" ~ (place - 1) ~ " THEN e" ~ place ~ " ELSE -e" ~ place ~ " END AS " if place > 1 }}e{{ place }}{% endfor %}

    FROM known
    ANTI JOIN shared USING (person{% for place in range(1, size + 1) %}, e{{ place }}, t{{ place }}{% endfor %})
{% else %}
    SELECT * FROM known ANTI JOIN shared USING (person, {{ parts.names(size) }})
{% endif %}
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
