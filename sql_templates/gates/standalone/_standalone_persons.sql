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

{# `alike` has for each person somebody who stands for all with the same events, and how many these are. Two persons
   have the same events when both have as many as they share. #}
{% macro persons_alike() -%}
numbers AS (
    SELECT own.e, people.lonely, COUNT(*) AS events
    FROM own
    JOIN people ON people.e = own.e
    GROUP BY own.e, people.lonely
),
common AS (
    SELECT mine.e AS e, theirs.e AS other, COUNT(*) AS events
    FROM own AS mine
    JOIN own AS theirs ON mine.event = theirs.event
    GROUP BY mine.e, theirs.e
),
alike AS (
    SELECT common.e AS e, MIN(common.other) AS known, COUNT(*) AS persons
    FROM common
    JOIN numbers AS mine ON mine.e = common.e
    JOIN numbers AS theirs ON theirs.e = common.other
    WHERE common.events = mine.events AND common.events = theirs.events AND mine.lonely = 0 AND theirs.lonely = 0
    GROUP BY common.e
)
{%- endmacro %}

{# The rows with one key for all rows of a person, for somebody who knows all of them. #}
{% macro all_rows(source, columns, key, key_count, solo) -%}
{{ events(source, columns, key, key_count, solo) }},
{{ persons_alike() }},
all_rows AS (
    SELECT COALESCE(alike.known, person_rows.e) AS known, person_rows.e AS person, person_rows.s AS told
    FROM person_rows
    LEFT JOIN alike ON alike.e = person_rows.e
)
{%- endmacro %}

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
