{# The sets of so many events whose first event lies in a range: how many persons have each, the sums that tell up to four
   of these persons, and how many have the rarest part. Sets with a part that one person alone has are left out: they single out the same one.
   Two events have parts of one event each, which the numbers of events tell; longer sets meet the sets before. #}
{% import "events/_events_sets.sql" as sets with context %}
SELECT
{% for place in range(1, size + 1) %}
    own{{ place }}.event AS e{{ place }},
{% endfor %}
    COUNT(*) AS persons,
    MIN(own1.person) AS one_person,
    MAX(own1.person) AS other_person,
    SUM({{ sets.number("own1.person") }}) AS sum_of_persons,
    SUM({{ sets.number("own1.person") }} * own1.person) AS sum_of_squares,
{% if shared is none %}
    CASE WHEN own1.event >= {{ first_safe }} THEN {{ k }} ELSE 0 END AS least_part
{% else %}
    LEAST({% for place in range(1, size + 1) %}COALESCE(MIN(part{{ place }}.persons), {{ k }}){{ ", " if not loop.last }}{% endfor %}) AS least_part
{% endif %}
FROM {{ sets.of_persons(own, size) }}
{% if shared is not none %}
{% for place in range(1, size + 1) %}
LEFT JOIN {{ shared }} AS part{{ place }} ON {{ sets.is_part(size, place, "part" ~ place) }}
{% endfor %}
{% endif %}
WHERE own1.event BETWEEN {{ low }} AND {{ high }}
{% for place in range(2, size + 1) %}
    AND own{{ place }}.event > {{ low }}
{% endfor %}
{% if repeats %}
    AND {{ sets.is_whole(size) }}
{% for place in range(1, size + 1) %}
    AND (part{{ place }}.persons IS NOT NULL OR {{ sets.is_repeated(size, place) }})
{% endfor %}
{% elif shared is not none %}
{% for place in range(1, size + 1) %}
    AND {{ sets.is_found("part" ~ place ~ ".persons", "own1.person") }}
{% endfor %}
{% endif %}
GROUP BY {% for place in range(1, size + 1) %}own{{ place }}.event{{ ", " if not loop.last }}{% endfor %}

