{# Persons with many rows in one SELECT: which combination of the quasi-identifiers (event) each person has, and which
   persons have the same ones. Events are numbers, so that missing values are equal and nothing is joined on keys. With
   `solo` a row with a missing value is an event that nobody else has. SQL that every dialect shares, without arrays. #}

{# `own` has each event of each person once, `people` each person, `lonely` where one of the events is nobody else's. #}
{% macro events(source, columns, key, key_count, solo) -%}
person_rows AS (
    SELECT
        {{ columns }}
    FROM {{ source }}
),
numbered AS (
    SELECT
        e,
        DENSE_RANK() OVER (ORDER BY {{ key }}) AS event,
        {{ missing(key_count) if solo else "0" }} AS lonely
    FROM person_rows
    WHERE e IS NOT NULL
),
own AS (
    SELECT DISTINCT e, event FROM numbered WHERE lonely = 0
),
people AS (
    SELECT e, MAX(lonely) AS lonely FROM numbered GROUP BY e
)
{%- endmacro %}

{% macro missing(key_count) -%}
CASE WHEN {% for place in range(1, key_count + 1) %}q{{ place }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END
{%- endmacro %}

{# `alike` has for each person a person who stands for all with the same events, and how many these are. Who agrees in
   some sums over events is a candidate and compared with one of the candidates; two have the same events when both have
   as many as they share. Sums that agree by chance decide nothing: who differs is compared with each other who does. #}
{% macro persons_alike() -%}
candidates AS (
    SELECT
        own.e AS e,
        COUNT(*) AS events,
        MIN(own.event) AS lowest,
        MAX(own.event) AS highest,
        SUM(MOD(own.event, 1000003)) AS added,
        SUM(MOD(own.event, 1000003) * MOD(own.event, 1000003)) AS squared
    FROM own
    JOIN people ON people.e = own.e
    WHERE people.lonely = 0
    GROUP BY own.e
),
standing AS (
    SELECT e, events, MIN(e) OVER (PARTITION BY events, lowest, highest, added, squared) AS known
    FROM candidates
),
compared AS (
    SELECT standing.e AS e, COUNT(*) AS shared
    FROM standing
    JOIN own AS mine ON mine.e = standing.e
    JOIN own AS theirs ON theirs.e = standing.known AND theirs.event = mine.event
    GROUP BY standing.e
),
differing AS (
    SELECT standing.e AS e, standing.known AS known, standing.events AS events
    FROM standing
    LEFT JOIN compared ON compared.e = standing.e
    WHERE compared.e IS NULL OR compared.shared < standing.events
),
common AS (
    SELECT mine.e AS e, theirs.e AS other
    FROM differing AS mine
    JOIN differing AS theirs ON theirs.known = mine.known
    JOIN own AS own_events ON own_events.e = mine.e
    JOIN own AS other_events ON other_events.e = theirs.e AND other_events.event = own_events.event
    GROUP BY mine.e, theirs.e, mine.events
    HAVING COUNT(*) = mine.events
),
stood_for AS (
    SELECT standing.e AS e, standing.known AS known
    FROM standing
    JOIN compared ON compared.e = standing.e AND compared.shared = standing.events
    UNION ALL
    SELECT e, MIN(other) FROM common GROUP BY e
),
alike AS (
    SELECT e, known, COUNT(*) OVER (PARTITION BY known) AS persons FROM stood_for
)
{%- endmacro %}

{# The rows with one key for all rows of a person, for an attacker who knows all of them. #}
{% macro all_rows(source, columns, key, key_count, solo) -%}
{{ events(source, columns, key, key_count, solo) }},
{{ persons_alike() }},
all_rows AS (
    SELECT COALESCE(alike.known, person_rows.e) AS known, person_rows.e AS person, person_rows.s AS told
    FROM person_rows
    LEFT JOIN alike ON alike.e = person_rows.e
)
{%- endmacro %}

{# Of how many persons who may stand for somebody in `people` are `found`: the fewest who share something, or all alike. #}
{% macro persons_found() %}CASE WHEN people.lonely = 1 THEN 1 ELSE found.persons END{% endmacro %}
{% macro person_falls_short(k) %}(people.lonely = 1 AND 1 < {{ k }}) OR (people.lonely = 0 AND found.persons < {{ k }}){% endmacro %}

{# Whether some person has more than one combination: else who knows all rows knows no more than one tells. #}
{% macro some_know_more() %}(SELECT COUNT(*) FROM (SELECT e FROM numbered GROUP BY e HAVING COUNT(DISTINCT event) > 1) AS several) > 0{% endmacro %}

{# For each person the fewest who share some event, or some two, of the person. #}
{% macro least_shared(known) -%}
shared AS (
    SELECT event AS one, event AS other, COUNT(*) AS persons FROM own GROUP BY event
{% if known > 1 %}
    UNION ALL
    SELECT mine.event, further.event, COUNT(*)
    FROM own AS mine
    JOIN own AS further ON further.e = mine.e AND mine.event < further.event
    GROUP BY mine.event, further.event
{% endif %}
),
least AS (
    SELECT own.e AS e, MIN(shared.persons) AS persons
    FROM own
    JOIN shared ON shared.one = own.event
    JOIN own AS further ON further.e = own.e AND further.event = shared.other
    GROUP BY own.e
)
{%- endmacro %}
