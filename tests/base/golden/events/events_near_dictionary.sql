/* sqlaudit: events_near_dictionary */
SELECT
    known,
    persons,
    CAST(ROW_NUMBER() OVER (ORDER BY persons, known) AS INTEGER) AS event,
    CAST(NULL AS INTEGER) AS repeated
FROM (SELECT known, COUNT(*) AS persons FROM patients GROUP BY known) AS counted
