/* sqlaudit: events_state */
WITH
sums AS (
    SELECT
        *,
        CAST(sum_of_persons AS BIGINT) - one_person - other_person AS rest,
        CAST(sum_of_squares AS HUGEINT) - CAST(one_person AS BIGINT) * one_person - CAST(other_person AS BIGINT) * other_person AS squares
    FROM patients
    WHERE persons < 5
),
few AS (
    SELECT
        one_person, other_person, rest, persons,
        CASE persons
            WHEN 4 THEN CAST(ROUND(SQRT(2 * squares - CAST(rest AS HUGEINT) * rest)) AS BIGINT)
            ELSE 0
        END AS gap
    FROM sums
),
found AS (
    SELECT person, MIN(persons) AS persons
    FROM (
        SELECT
            UNNEST(
                CASE persons
                    WHEN 3 THEN [one_person, other_person, rest]
                    ELSE [one_person, other_person, (rest - gap) // 2, (rest + gap) // 2][:persons]
                END
            ) AS person,
            persons
        FROM few
    ) AS hits
    GROUP BY person
)
SELECT
    state.person,
    state.events,
    COALESCE(state.exposed, CASE WHEN found.persons < 5 THEN 2 END) AS exposed,
    COALESCE(state.singled_out, CASE WHEN found.persons = 1 THEN 2 END) AS singled_out
FROM patients AS state
LEFT JOIN found USING (person)
