/* sqlaudit: joined_counts */
WITH values_of AS (
    SELECT
        "room" AS k1,
        COUNT(*) AS n,
        MIN("persons") AS low,
        MAX("persons") AS high,
        COUNT("persons") AS known
    FROM patients AS listed
    GROUP BY "room", "disease"
),
classes AS (
    SELECT
        MIN(n) AS fewest,
        MAX(n) AS most,
        SUM(low) AS persons,
        COUNT(*) AS distinct_values,
        SUM(CASE WHEN low = high AND low >= 1 AND known = n THEN 0 ELSE 1 END) AS unlike
    FROM values_of
    GROUP BY k1
)
SELECT
    COUNT(CASE WHEN unlike = 0 AND fewest = most AND fewest = persons THEN NULL ELSE 1 END) AS odd,
    COUNT(CASE WHEN persons >= 3 AND distinct_values >= 2 THEN 1 END) AS telling,
    MIN(fewest) AS persons
FROM classes
