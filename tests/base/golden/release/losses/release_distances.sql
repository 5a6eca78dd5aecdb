/* sqlaudit: release_distances */
WITH signatures AS (
    SELECT lanes, n FROM patients
    
),
numbered AS (
    SELECT ROW_NUMBER() OVER () AS id, lanes, n
    FROM signatures
),
counts AS (
    SELECT id, n, packed // 1099511627776 AS lane, packed % 1099511627776 AS c
    FROM (SELECT id, n, UNNEST(lanes) AS packed FROM numbered) AS listed
),
grouped AS (
    SELECT counts.id, counts.n, members.part, CAST(SUM(counts.c) AS HUGEINT) AS c
    FROM counts
    JOIN patients AS members ON counts.lane = members.lane
    GROUP BY counts.id, counts.n, members.grp, members.part
),
measured AS (
    SELECT id, SUM(ABS(c * 1 - CAST(part AS HUGEINT) * n) - CAST(part AS HUGEINT) * n) AS deviation
    FROM grouped
    GROUP BY id
),
parts AS (
    SELECT COALESCE(SUM(part), 0) AS whole
    FROM (SELECT grp, MAX(part) AS part FROM patients GROUP BY grp) AS groups
)
SELECT
    numbered.lanes, numbered.n,
    CAST(CAST(numbered.n AS HUGEINT) * parts.whole + COALESCE(measured.deviation, 0) AS HUGEINT) AS deviation
FROM numbered
CROSS JOIN parts
LEFT JOIN measured ON numbered.id = measured.id
