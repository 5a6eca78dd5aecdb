{# What follows from the classes of both tables alone. #}
SELECT
    (SELECT CAST(COALESCE(SUM(deviation), 0) AS HUGEINT) FROM {{ tuples }}) AS before,
    (SELECT CAST(COALESCE(SUM(deviation), 0) AS HUGEINT) FROM {{ classes }}) AS after,
    (SELECT COUNT(*) FROM {{ classes }}) AS classes,
    (SELECT CAST(COALESCE(SUM(CAST(n AS HUGEINT) * n), 0) AS HUGEINT) FROM {{ classes }}) AS squares,
    (SELECT COALESCE(SUM(n * LOG2(n)), 0) FROM {{ tuples }}) AS tuple_bits,
    {{ "(SELECT COALESCE(SUM(n * LOG2(region)), 0) FROM " ~ classes ~ ")" if with_region else "CAST(NULL AS DOUBLE)" }} AS region_bits
