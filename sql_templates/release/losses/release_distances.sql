{# How far each mixture of sensitive values is from that of the original: the sum over groups of values of
   |c total - part n|, exactly. Mixtures that occur in several blocks are measured once. #}
WITH signatures AS (
    {% for blocks in all_blocks %}
    SELECT lanes, n FROM {{ blocks }}
    {{ "UNION" if not loop.last }}
    {% endfor %}
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
    JOIN {{ members }} AS members ON counts.lane = members.lane
    GROUP BY counts.id, counts.n, members.grp, members.part
),
measured AS (
    SELECT id, SUM(ABS(c * {{ total }} - CAST(part AS HUGEINT) * n) - CAST(part AS HUGEINT) * n) AS deviation
    FROM grouped
    GROUP BY id
),
parts AS (
    SELECT COALESCE(SUM(part), 0) AS whole
    FROM (SELECT grp, MAX(part) AS part FROM {{ members }} GROUP BY grp) AS groups
)
SELECT
    numbered.lanes, numbered.n,
    CAST(CAST(numbered.n AS HUGEINT) * parts.whole + COALESCE(measured.deviation, 0) AS HUGEINT) AS deviation
FROM numbered
CROSS JOIN parts
LEFT JOIN measured ON numbered.id = measured.id
