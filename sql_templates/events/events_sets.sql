{# The sets of so many events whose first event lies in a range: how many persons have each, the sums that tell up to four
   of these persons, and how many have the rarest part. Sets with a part that one person alone has are left out: they single out the same one.
   Two events have parts of one event each, which the numbers of events tell. Longer sets are two shared sets of a person that
   differ in the last event only, joined, so that their other parts remain to be looked up; with `repeats` all parts are. #}
{% import "events/_events_sets.sql" as sets with context %}
{% set joined = shared is not none and not repeats %}
{% macro event(place) -%}
{% if not joined %}own{{ place }}.event{% elif place == size %}own2.e{{ place - 1 }}{% else %}own1.e{{ place }}{% endif %}
{%- endmacro %}
{% macro is_in_range(places) -%}
own1.event BETWEEN {{ low }} AND {{ high }}
{% for place in range(2, places + 1) %}
    AND own{{ place }}.event > {{ low }}
{% endfor %}
{%- endmacro %}
{% set to_look_up = size - 2 if joined else size %}
{% if joined %}
WITH several AS MATERIALIZED (
    SELECT own1.person, {% for place in range(1, size) %}own{{ place }}.event AS e{{ place }}, {% endfor %}part.persons
    FROM {{ sets.of_persons(own, size - 1) }}
    LEFT JOIN {{ shared }} AS part ON {{ sets.is_set(size - 1, "part") }}
    WHERE {{ is_in_range(size - 1) }}
        AND {{ sets.is_found("part.persons", "own1.person") }}
)
{% endif %}
SELECT
{% for place in range(1, size + 1) %}
    {{ event(place) }} AS e{{ place }},
{% endfor %}
    COUNT(*) AS persons,
    MIN(own1.person) AS one_person,
    MAX(own1.person) AS other_person,
    SUM({{ sets.number("own1.person") }}) AS sum_of_persons,
    SUM({{ sets.number("own1.person") }} * own1.person) AS sum_of_squares,
{% if shared is none %}
    CASE WHEN own1.event >= {{ first_safe }} THEN {{ k }} ELSE 0 END AS least_part
{% else %}
    LEAST({{ "MIN(own1.persons), MIN(own2.persons), " if joined }}{% for place in range(1, to_look_up + 1) %}COALESCE(MIN(part{{ place }}.persons), {{ k }}){{ ", " if not loop.last }}{% endfor %}) AS least_part
{% endif %}
{% if joined %}
FROM several AS own1
JOIN several AS own2 ON own2.person = own1.person AND own2.e{{ size - 1 }} > own1.e{{ size - 1 }}{% for place in range(1, size - 1) %} AND own2.e{{ place }} = own1.e{{ place }}{% endfor %}

{% else %}
FROM {{ sets.of_persons(own, size) }}
{% endif %}
{% if shared is not none %}
{% for place in range(1, to_look_up + 1) %}
LEFT JOIN {{ shared }} AS part{{ place }} ON {% for other in range(1, size + 1) if other != place %}part{{ place }}.e{{ loop.index }} = {{ event(other) }}{{ " AND " if not loop.last }}{% endfor %}

{% endfor %}
{% endif %}
{% if joined %}
{% for place in range(1, to_look_up + 1) %}
{{ "WHERE" if loop.first else "    AND" }} {{ sets.is_found("part" ~ place ~ ".persons", "own1.person") }}
{% endfor %}
{% else %}
WHERE {{ is_in_range(size) }}
{% if repeats %}
    AND {{ sets.is_whole(size) }}
{% for place in range(1, size + 1) %}
    AND (part{{ place }}.persons IS NOT NULL OR {{ sets.is_repeated(size, place) }})
{% endfor %}
{% endif %}
{% endif %}
GROUP BY {% for place in range(1, size + 1) %}{{ event(place) }}{{ ", " if not loop.last }}{% endfor %}

