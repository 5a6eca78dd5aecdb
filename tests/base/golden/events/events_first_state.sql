/* sqlaudit: events_first_state */
SELECT
    own.person,
    COUNT(*) AS events,
    CASE WHEN MIN(dictionary.persons) FILTER (WHERE dictionary.repeated IS NULL) < 5 THEN 1 END AS exposed,
    CASE WHEN MIN(dictionary.persons) FILTER (WHERE dictionary.repeated IS NULL) = 1 THEN 1 END AS singled_out
FROM patients AS own
JOIN patients AS dictionary USING (event)
GROUP BY own.person
