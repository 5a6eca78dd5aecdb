/* sqlaudit: events_telling_sets */
WITH theirs AS (
    SELECT own.* FROM patients AS own JOIN patients AS at_risk USING (person) WHERE at_risk.singled_out = 2
),
known AS (
    SELECT own1.person, own1.event AS e1, own2.event AS e2
    FROM theirs AS own1
JOIN theirs AS own2 ON own2.person = own1.person AND own2.event > own1.event

),
shared AS (
    SELECT DISTINCT known.*
    FROM known
    JOIN patients AS other1 ON other1.event = known.e1 AND other1.person <> known.person
    JOIN patients AS other2 ON other2.event = known.e2 AND other2.person = other1.person
),
alone AS (
    SELECT * FROM known ANTI JOIN shared USING (person, e1, e2)
)
SELECT person, sets, e1, e2
FROM (
    SELECT
        *,
        COUNT(*) OVER (PARTITION BY person) AS sets,
        ROW_NUMBER() OVER (PARTITION BY person ORDER BY e1, e2) AS nth
    FROM alone
) AS counted
WHERE nth = 1
ORDER BY person
