{# The finest classes with how far their sensitive values are from those of the table: the sum over all values of
   |c rows - part n|. A value that a class does not have adds part n. #}
SELECT
    {{ key | join(", ") }}{{ ", " if key }}n,
    CAST(CAST(n AS HUGEINT) * {{ rows }} + SUM(ABS(CAST(c AS HUGEINT) * {{ rows }} - CAST(part AS HUGEINT) * n) - CAST(part AS HUGEINT) * n) AS HUGEINT) AS deviation
FROM (
    SELECT {{ key | join(", ") }}{{ ", " if key }}c, part, CAST(SUM(c) OVER ({{ "PARTITION BY " ~ key | join(", ") if key }}) AS BIGINT) AS n
    FROM {{ counts }} AS counts
) AS sized
GROUP BY {{ key | join(", ") }}{{ ", " if key }}n
