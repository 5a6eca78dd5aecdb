/* sqlaudit: events_mixed_dictionary */
WITH items AS (
    SELECT persons, event AS item, repeated, 0 AS place FROM patients
    UNION ALL
    SELECT COUNT(*), value, NULL, 2 FROM patients GROUP BY value
),
numbered AS (
    SELECT *, CAST(ROW_NUMBER() OVER (ORDER BY persons, place, item) AS INTEGER) AS event FROM items
)
SELECT numbered.persons, numbered.event, numbered.item, numbered.place, origin.event AS repeated
FROM numbered
LEFT JOIN numbered AS origin ON numbered.place = 0 AND origin.place = 0 AND origin.item = numbered.repeated
