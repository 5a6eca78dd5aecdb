{# The persons again, with those whom sets of `size` events expose or single out. Where `named`, a set tells its persons
   when it has at most four: the smallest and the largest number, and two more by sums, since x + y and x² + y² give
   (x - y)². Else the persons not yet exposed are looked up by the sets that have more. Where events match when they are
   `near`, those who have a set are fewer than those who fit it. #}
{% set holders = "holders" if near else "persons" %}
{% import "events/_events_sets.sql" as parts with context %}
WITH
{% if not named %}
remaining AS (
    SELECT own.person, own.event{{ ", own.moment" if sequence }} FROM {{ own }} AS own JOIN {{ state }} AS state USING (person) WHERE state.exposed IS NULL
),
{% else %}
few AS NOT MATERIALIZED (
    SELECT
        one_person,
        other_person,
        sum_of_squares,
        CAST(sum_of_persons AS BIGINT) - one_person - other_person AS rest,
        persons,
        {{ holders }} AS holders
    FROM {{ sets }}
    WHERE persons < {{ k }} AND {{ holders }} < 5
),
four AS (
    SELECT
        rest,
        CAST(sum_of_squares AS HUGEINT) - CAST(one_person AS BIGINT) * one_person - CAST(other_person AS BIGINT) * other_person AS squares,
        persons
    FROM few
    WHERE holders = 4
),
{% endif %}
found AS (
    SELECT person, MIN(persons) AS persons
    FROM (
    {% if named %}
        SELECT one_person AS person, persons FROM few
        UNION ALL
        SELECT other_person, persons FROM few WHERE holders > 1
        UNION ALL
        SELECT rest, persons FROM few WHERE holders = 3
        UNION ALL
        SELECT UNNEST([(rest - gap) // 2, (rest + gap) // 2]), persons
        FROM (
            SELECT rest, CAST(ROUND(SQRT(2 * squares - CAST(rest AS HUGEINT) * rest)) AS BIGINT) AS gap, persons FROM four
        ) AS pairs
    {% else %}
        SELECT own1.person, sets.persons
        FROM {{ parts.of_persons("remaining", size) }}
        JOIN {{ sets }} AS sets ON {{ parts.is_set(size, "sets") }}
        WHERE sets.{{ holders }} > 4 AND sets.persons < {{ k }}
    {% endif %}
    ) AS hits
    GROUP BY person
)
SELECT
    state.person,
    state.events,
    COALESCE(state.exposed, CASE WHEN found.persons < {{ k }} THEN {{ size }} END) AS exposed,
    COALESCE(state.singled_out, CASE WHEN found.persons = 1 THEN {{ size }} END) AS singled_out
FROM {{ state }} AS state
LEFT JOIN found USING (person)
