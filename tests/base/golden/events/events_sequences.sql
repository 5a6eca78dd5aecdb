/* sqlaudit: events_sequences */
WITH known AS (
    SELECT DISTINCT
        own1.person,
        own1.event AS e1,
        CASE WHEN own2.moment > own1.moment THEN own2.event ELSE -own2.event END AS e2,
        CASE WHEN own3.moment > own2.moment THEN own3.event ELSE -own3.event END AS e3,
        LEAST(part1.persons, part2.persons, part3.persons) AS least_part
    FROM patients AS own1
JOIN patients AS own2 ON own2.person = own1.person AND (own2.moment > own1.moment OR own2.moment = own1.moment AND own2.event > own1.event)
JOIN patients AS own3 ON own3.person = own1.person AND (own3.moment > own2.moment OR own3.moment = own2.moment AND own3.event > own2.event)

    JOIN patients AS part1 ON part1.e1 = own2.event AND part1.e2 = CASE WHEN own3.moment > own2.moment THEN own3.event ELSE -own3.event END
    JOIN patients AS part2 ON part2.e1 = own1.event AND part2.e2 = CASE WHEN own3.moment > own1.moment THEN own3.event ELSE -own3.event END
    JOIN patients AS part3 ON part3.e1 = own1.event AND part3.e2 = CASE WHEN own2.moment > own1.moment THEN own2.event ELSE -own2.event END
    WHERE own1.event BETWEEN 1 AND 3
        AND own2.event >= 2
        AND own3.event >= 2
)
SELECT
    e1, e2, e3,
    COUNT(*) AS persons,
    MIN(person) AS one_person,
    MAX(person) AS other_person,
    SUM(CAST(person AS DOUBLE)) AS sum_of_persons,
    SUM(CAST(person AS DOUBLE) * person) AS sum_of_squares,
    least_part
FROM known
GROUP BY e1, e2, e3, least_part
