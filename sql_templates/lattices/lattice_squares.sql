{# How many classes there are, the sum of their squared rows, and of their rows times the logarithm of these. #}
SELECT
    COUNT(*) AS classes,
    COALESCE(SUM(CAST(n AS {{ wide }}) * n), 0) AS squares,
    COALESCE(SUM(n * LN(CAST(n AS DOUBLE))), 0) AS logarithms
FROM (
    SELECT COUNT(*) AS n
    FROM {{ rows }} AS coded
    {{ "GROUP BY " ~ (keys | join(", ")) if keys else "HAVING COUNT(*) > 0" }}
) AS classes
