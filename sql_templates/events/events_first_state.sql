{# Each person: how many events, and with how many known events the person is exposed (fewer than k share them) and
   singled out; here with one. #}
SELECT
    own.person,
    COUNT(*) AS events,
    CASE WHEN MIN(dictionary.persons) FILTER (WHERE dictionary.repeated IS NULL) < {{ k }} THEN 1 END AS exposed,
    CASE WHEN MIN(dictionary.persons) FILTER (WHERE dictionary.repeated IS NULL) = 1 THEN 1 END AS singled_out
FROM {{ own }} AS own
JOIN {{ dictionary }} AS dictionary USING (event)
GROUP BY own.person
