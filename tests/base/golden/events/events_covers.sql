/* sqlaudit: events_covers */
WITH nothing AS (
    SELECT 0 AS code
)
, placed_k1 AS (
    SELECT code, ROW_NUMBER() OVER (ORDER BY code) AS place
    FROM (SELECT DISTINCT k1 AS code FROM patients WHERE k1 <> 0) AS codes
),
span_k1 AS (
    SELECT placed.code, lowest.code AS low, highest.code AS high
    FROM placed_k1 AS placed
    JOIN spans AS spans ON spans.place = placed.place
    JOIN placed_k1 AS lowest ON lowest.place = spans.low
    JOIN placed_k1 AS highest ON highest.place = spans.high
    UNION ALL
    SELECT code, code, code FROM nothing
)
SELECT event, event AS fits FROM patients
UNION
SELECT known.event, other.event
FROM patients AS known
JOIN span_k1 ON span_k1.code = known.k1

JOIN patients AS other ON known.own_row + other.own_row = 0
    AND other.k0 = known.k0
    AND other.k1 BETWEEN span_k1.low AND span_k1.high

UNION
SELECT known.event, other.event
FROM patients AS known
JOIN span_k1 ON span_k1.code = known.k1

JOIN (SELECT * FROM patients AS other WHERE other.k0 = 0) AS other ON known.own_row + other.own_row = 0
    AND (known.k0 = 0 OR other.k0 = 0 OR other.k0 = known.k0)
    AND other.k1 BETWEEN span_k1.low AND span_k1.high

UNION
SELECT known.event, other.event
FROM (SELECT * FROM patients AS unknown WHERE unknown.k0 = 0) AS known
JOIN span_k1 ON span_k1.code = known.k1
JOIN patients AS other ON known.own_row + other.own_row = 0
    AND (known.k0 = 0 OR other.k0 = 0 OR other.k0 = known.k0)
    AND other.k1 BETWEEN span_k1.low AND span_k1.high
