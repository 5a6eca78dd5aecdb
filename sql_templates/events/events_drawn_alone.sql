{# Of drawn persons, each with some events by their places among the person's own, how many share them with somebody; in a
   `sequence` in the same order. #}
{% import "events/_events_sets.sql" as sets with context %}
WITH people AS (
    SELECT person, ROW_NUMBER() OVER (ORDER BY person) - 1 AS place FROM {{ state }}
),
chosen AS (
    SELECT people.person, {% for at in range(1, size + 1) %}drawn.d{{ at }}{{ ", " if not loop.last }}{% endfor %}

    FROM {{ drawn }} AS drawn JOIN people USING (place)
),
theirs AS (
    SELECT own.*, ROW_NUMBER() OVER (PARTITION BY own.person ORDER BY {{ "own.moment, " if sequence }}own.event) - 1 AS position
    FROM {{ own }} AS own SEMI JOIN chosen USING (person)
),
known AS MATERIALIZED (
    SELECT chosen.person, {% for at in range(1, size + 1) %}own{{ at }}.event AS e{{ at }}{{ ", own" ~ at ~ ".moment AS t" ~ at if sequence }}{{ ", " if not loop.last }}{% endfor %}

    FROM chosen
{% for at in range(1, size + 1) %}
    JOIN theirs AS own{{ at }} ON own{{ at }}.person = chosen.person AND own{{ at }}.position = chosen.d{{ at }}
{% endfor %}
)
SELECT COUNT(DISTINCT known.person) AS shared
FROM known
{% for at in range(1, size + 1) %}
{{ "LEFT " if at > 1 }}JOIN {{ fits }} AS other{{ at }} ON other{{ at }}.event = known.e{{ at }} AND other{{ at }}.person {{ "<> known.person" if at == 1 else "= other1.person" }}{{ " AND SIGN(other" ~ at ~ ".moment - other" ~ (at - 1) ~ ".moment) = SIGN(known.t" ~ at ~ " - known.t" ~ (at - 1) ~ ")" if sequence and at > 1 }}
{% endfor %}
{% for at in range(2, size + 1) %}
{{ "WHERE" if loop.first else "  AND" }} {{ sets.is_found("other" ~ at ~ ".person", "known.person") }}
{% endfor %}
