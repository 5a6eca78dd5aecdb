{# Persons with many rows in one SELECT: which combination of the quasi-identifiers (event) each person has, and which
   persons have the same ones. Events are numbers, so that missing values are equal and nothing is joined on keys. With
   `solo` a row with a missing value is an event that no one else has. SQL that every dialect shares, without arrays. #}

{# `own` has each event of each person once, `people` each person, `lonely` where one of the events is no one else's. With
   `only_several` they are empty where no person has more than one combination. #}
{% macro events(source, columns, key, key_count, solo, only_several=false) -%}
person_rows AS (
    SELECT
        {{ columns }}
    FROM {{ source }}
),
pairs AS (
    SELECT {{ key }}, e, COUNT(*) AS row_count
    FROM person_rows
    WHERE e IS NOT NULL
    GROUP BY {{ key }}, e
),
{%- if only_several %}
several AS (
    SELECT COUNT(*) AS persons
    FROM (SELECT e FROM pairs GROUP BY e HAVING COUNT(*) > 1) AS of_person
),
{%- endif %}
numbered AS (
    SELECT
        e,
        row_count,
        DENSE_RANK() OVER (ORDER BY {{ key }}) AS event,
        {{ missing(key_count) if solo else "0" }} AS lonely
    FROM pairs
{%- if only_several %}
    WHERE {{ some_know_more() }}
{%- endif %}
),
own AS (
    SELECT e, event FROM numbered{{ " WHERE lonely = 0" if solo }}
),
people AS (
    SELECT e, MAX(lonely) AS lonely FROM numbered GROUP BY e
)
{%- endmacro %}

{% macro missing(key_count) -%}
CASE WHEN {% for place in range(1, key_count + 1) %}q{{ place }} IS NULL{{ " OR " if not loop.last }}{% endfor %} THEN 1 ELSE 0 END
{%- endmacro %}

{# `alike` has for each person a person who stands for all with the same events, and how many these are. Who agrees in
   their number and in sums of their powers is in one group, and a group with no more events than each of its persons has
   is of the same events. Powers of events are taken modulo a prime, so that no sum is too large. Sums that agree by chance
   decide nothing: in such a group who differs from its first person is compared with each other who does. #}
{% macro persons_alike(solo) -%}
{%- set rest = "MOD(own.event, 1000003)" -%}
{%- set square = "MOD(" ~ rest ~ " * " ~ rest ~ ", 1000003)" -%}
{%- set to_here = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW" -%}
candidates AS (
    SELECT
        own.e AS e,
        COUNT(*) AS events,
        MIN(own.event) AS lowest,
        MAX(own.event) AS highest,
        SUM({{ rest }}) AS added,
        SUM({{ rest }} * {{ rest }}) AS squared,
        SUM({{ square }} * {{ rest }}) AS cubed,
        SUM({{ square }} * {{ square }}) AS fourth
    FROM own
{%- if solo %}
    JOIN people ON people.e = own.e
    WHERE people.lonely = 0
{%- endif %}
    GROUP BY own.e
),
standing AS (
    SELECT
        e, events,
        FIRST_VALUE(e) OVER (PARTITION BY events, lowest, highest, added, squared, cubed, fourth ORDER BY e {{ to_here }}) AS known
    FROM candidates
),
mixed AS (
    SELECT known
    FROM (
        SELECT standing.known AS known, standing.events AS events, own.event AS event
        FROM standing
        JOIN own ON own.e = standing.e
        GROUP BY standing.known, standing.events, own.event
    ) AS of_group
    GROUP BY known, events
    HAVING COUNT(*) > events
),
compared AS (
    SELECT standing.e AS e, COUNT(*) AS shared
    FROM mixed
    JOIN standing ON standing.known = mixed.known
    JOIN own AS mine ON mine.e = standing.e
    JOIN own AS theirs ON theirs.e = standing.known AND theirs.event = mine.event
    GROUP BY standing.e
),
differing AS (
    SELECT standing.e AS e, standing.known AS known, standing.events AS events
    FROM mixed
    JOIN standing ON standing.known = mixed.known
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
    LEFT JOIN mixed ON mixed.known = standing.known
    LEFT JOIN compared ON compared.e = standing.e
    WHERE mixed.known IS NULL OR compared.shared = standing.events
    UNION ALL
    SELECT DISTINCT e, FIRST_VALUE(other) OVER (PARTITION BY e ORDER BY other {{ to_here }}) FROM common
),
alike AS (
    SELECT e, known, COUNT(*) OVER (PARTITION BY known) AS persons FROM stood_for
)
{%- endmacro %}

{# The rows with one key for all rows of a person, for an attacker who knows all of them; with `only_several` none where no
   person has more than one combination. #}
{% macro all_rows(source, columns, key, key_count, solo, only_several=false) -%}
{{ events(source, columns, key, key_count, solo, only_several) }},
{{ persons_alike(solo) }},
all_rows AS (
    SELECT COALESCE(alike.known, person_rows.e) AS known, person_rows.e AS person, person_rows.s AS told
    FROM person_rows
    LEFT JOIN alike ON alike.e = person_rows.e
{%- if only_several %}
    WHERE {{ some_know_more() }}
{%- endif %}
)
{%- endmacro %}

{# Of how many persons who may stand for somebody in `people` are `found`: the fewest who share something, or all alike. #}
{% macro persons_found() %}CASE WHEN people.lonely = 1 THEN 1 ELSE found.persons END{% endmacro %}
{% macro person_falls_short(k) %}(people.lonely = 1 AND 1 < {{ k }}) OR (people.lonely = 0 AND found.persons < {{ k }}){% endmacro %}

{# Whether some person has more than one combination: else who knows all rows knows no more than one tells. #}
{% macro some_know_more() %}(SELECT persons FROM several) > 0{% endmacro %}

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
