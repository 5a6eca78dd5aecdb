/* sqlaudit: events_sets */
SELECT
    own1.event AS e1,
    own2.event AS e2,
    COUNT(*) AS persons,
    MIN(own1.person) AS one_person,
    MAX(own1.person) AS other_person,
    SUM(CAST(own1.person AS DOUBLE)) AS sum_of_persons,
    SUM(CAST(own1.person AS DOUBLE) * own1.person) AS sum_of_squares,
    CASE WHEN own1.event >= 4 THEN 5 ELSE 0 END AS least_part
FROM patients AS own1
JOIN patients AS own2 ON own2.person = own1.person AND own2.event > own1.event

WHERE own1.event BETWEEN 1 AND 3
    AND own2.event > 1

GROUP BY own1.event, own2.event
