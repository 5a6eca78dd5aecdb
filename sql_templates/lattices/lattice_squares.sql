{# How many classes there are, and the sum of their squared rows. #}
SELECT COUNT(*) AS classes, COALESCE(SUM(CAST(n AS {{ wide }}) * n), 0) AS squares
FROM (
    SELECT COUNT(*) AS n
    FROM {{ rows }} AS coded
    {{ "GROUP BY " ~ (keys | join(", ")) if keys else "HAVING COUNT(*) > 0" }}
) AS classes
