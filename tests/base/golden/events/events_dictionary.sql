/* sqlaudit: events_dictionary */
WITH counted AS (
    SELECT k0, own_row, nth, COUNT(*) AS persons
    FROM patients
    GROUP BY k0, own_row, nth
),
numbered AS (
    SELECT *, CAST(ROW_NUMBER() OVER (ORDER BY persons, k0, own_row, nth) AS INTEGER) AS event FROM counted
)
SELECT
    *,
    CAST(NULL AS INTEGER) AS repeated
FROM numbered
