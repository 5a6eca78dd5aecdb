/* sqlaudit: events_spans */
WITH placed AS (
    SELECT value, ROW_NUMBER() OVER (ORDER BY value) AS place
    FROM (SELECT DISTINCT day AS value FROM patients WHERE day IS NOT NULL) AS seen
),
ordered AS (
    SELECT place, value AS value FROM placed
)
SELECT
    place,
    MIN(place) OVER (ORDER BY value RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND INTERVAL 7 DAYS FOLLOWING) AS low,
    MAX(place) OVER (ORDER BY value RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND INTERVAL 7 DAYS FOLLOWING) AS high
FROM ordered
