/* sqlaudit: events_told */
WITH remaining AS (
    SELECT person, event FROM patients ANTI JOIN patients USING (person)
)
SELECT person, MIN(known) AS known
FROM (
    SELECT person, known FROM patients
    UNION ALL
    SELECT person, 1 FROM patients WHERE 5 - 4 >= 1
    UNION ALL
    SELECT own1.person, 1
    FROM remaining AS own1

    JOIN patients AS learnt ON learnt.e1 = own1.event
    WHERE CAST(5 AS HUGEINT) * learnt.most - CAST(4 AS HUGEINT) * learnt.persons >= 1
) AS found
GROUP BY person
