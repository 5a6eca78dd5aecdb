{# How often the other table (s) has rows of which the original (d) has only one: `once` and `twice`, the combinations that the
   original has once and twice; `hit`, those it has once that the other has too, in `hit_rows` rows of the other. And how equal the
   counts of both are over all combinations: of each, d and s and both together, n, enter d²/n, d·s/n, s²/n and 1/n. #}
{% import "release/synthetic/_stacked.sql" as rows %}
SELECT
    COUNT(CASE WHEN d = 1 THEN 1 END) AS once,
    COUNT(CASE WHEN d = 2 THEN 1 END) AS twice,
    COUNT(CASE WHEN d = 1 AND s > 0 THEN 1 END) AS hit,
    CAST(COALESCE(SUM(CASE WHEN d = 1 THEN s END), 0) AS BIGINT) AS hit_rows,
    CAST(COALESCE(SUM(d), 0) AS BIGINT) AS own_rows,
    CAST(COALESCE(SUM(s), 0) AS BIGINT) AS other_rows,
    COUNT(*) AS cells,
    SUM(CAST(d AS DOUBLE) * d / (d + s)) AS own_squares,
    SUM(CAST(d AS DOUBLE) * s / (d + s)) AS products,
    SUM(CAST(s AS DOUBLE) * s / (d + s)) AS other_squares,
    SUM(CAST(1 AS DOUBLE) / (d + s)) AS shares
FROM (
    {{ rows.counted(sides) }}
) AS counted
