{# The sequences of so many events whose first event lies in a range: how many persons have each, the sums that tell up to
   four of these persons, and how many have the rarest part. A person who has a sequence in several ways counts once. Sequences
   with a part that one person alone has are left out: they single out the same one. #}
{% import "events/_events_sets.sql" as sets with context %}
WITH known AS (
    SELECT DISTINCT
        own1.person,
    {% for place in range(1, size + 1) %}
        {{ sets.item(place, place - 1) }} AS e{{ place }},
    {% endfor %}
    {% if shared is none %}
        CASE WHEN LEAST(own1.event, own2.event) >= {{ first_safe }} THEN {{ k }} ELSE 0 END AS least_part
    {% else %}
        LEAST({% for place in range(1, size + 1) %}part{{ place }}.persons{{ ", " if not loop.last }}{% endfor %}) AS least_part
    {% endif %}
    FROM {{ sets.of_persons(own, size) }}
{% if shared is not none %}
{% for place in range(1, size + 1) %}
    LEFT JOIN {{ shared }} AS part{{ place }} ON {{ sets.is_part(size, place, "part" ~ place) }}
{% endfor %}
{% endif %}
    WHERE own1.event BETWEEN {{ low }} AND {{ high }}
{% for place in range(2, size + 1) %}
        AND own{{ place }}.event >= {{ first_shared }}
{% endfor %}
{% if shared is not none %}
{% for place in range(1, size + 1) %}
        AND {{ sets.is_found("part" ~ place ~ ".persons", "own1.person") }}
{% endfor %}
{% endif %}
)
SELECT
    {{ sets.names(size) }},
    COUNT(*) AS persons,
    MIN(person) AS one_person,
    MAX(person) AS other_person,
    SUM({{ sets.number("person") }}) AS sum_of_persons,
    SUM({{ sets.number("person") }} * person) AS sum_of_squares,
    least_part
FROM known
GROUP BY {{ sets.names(size) }}, least_part
