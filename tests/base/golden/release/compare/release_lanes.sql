/* sqlaudit: release_lanes */
SELECT
    CAST(ROW_NUMBER() OVER (ORDER BY COALESCE(original.t, released.t) IS NULL, original.v NULLS LAST, released.t) - 1 AS INTEGER) AS lane,
    original.v,
    COALESCE(original.t, released.t) AS t,
    COALESCE(original.n, 0) AS total,
    COALESCE(released.n, 0) AS released
FROM patients AS original
FULL JOIN patients AS released ON original.t IS NOT DISTINCT FROM released.t
