/* sqlaudit: events_learnt_shares */
SELECT DISTINCT most // GCD(most, persons) AS most, persons // GCD(most, persons) AS persons
FROM patients
WHERE CAST(most AS DOUBLE) / persons = (SELECT MAX(CAST(most AS DOUBLE) / persons) FROM patients)
