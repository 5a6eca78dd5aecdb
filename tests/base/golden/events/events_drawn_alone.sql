/* sqlaudit: events_drawn_alone */
WITH people AS (
    SELECT person, ROW_NUMBER() OVER (ORDER BY person) - 1 AS place FROM patients
),
chosen AS (
    SELECT people.person, drawn.d1
    FROM patients AS drawn JOIN people USING (place)
),
theirs AS (
    SELECT own.*, ROW_NUMBER() OVER (PARTITION BY own.person ORDER BY own.event) - 1 AS position
    FROM patients AS own SEMI JOIN chosen USING (person)
),
known AS (
    SELECT chosen.person, own1.event AS e1
    FROM chosen
    JOIN theirs AS own1 ON own1.person = chosen.person AND own1.position = chosen.d1
)
SELECT COUNT(DISTINCT known.person) AS shared
FROM known
JOIN patients AS other1 ON other1.event = known.e1 AND other1.person <> known.person
