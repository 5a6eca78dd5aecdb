/* sqlaudit: release_cell_order */
WITH pairs AS (
    SELECT DISTINCT g1 AS own, h1 AS other
    FROM patients
),
sizes AS (
    SELECT cell, COUNT(*) AS size FROM patients GROUP BY cell
),
other_sizes AS (
    SELECT cell, COUNT(*) AS size FROM patients GROUP BY cell
),
shared AS (
    SELECT pairs.own, pairs.other, COUNT(*) AS size
    FROM pairs
    JOIN patients AS under ON pairs.own = under.cell
    JOIN patients AS other_under ON pairs.other = other_under.cell AND under.word = other_under.word
    GROUP BY pairs.own, pairs.other
)
SELECT
    pairs.own, pairs.other,
    COALESCE(shared.size, 0) = other_sizes.size AS is_coarser,
    COALESCE(shared.size, 0) = sizes.size AS is_finer
FROM pairs
JOIN sizes ON pairs.own = sizes.cell
JOIN other_sizes ON pairs.other = other_sizes.cell
LEFT JOIN shared ON pairs.own = shared.own AND pairs.other = shared.other
