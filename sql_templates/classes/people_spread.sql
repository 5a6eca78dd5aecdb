{# How many persons there are, in several classes, in several classes or with several values, with several values, and how
   many are to be compared. #}
SELECT
    COUNT(*) AS persons,
    COUNT(CASE WHEN least < most THEN 1 END) AS in_several_classes,
    COUNT(CASE WHEN least < most OR {{ several_values }} THEN 1 END) AS in_several_places,
    COUNT(CASE WHEN {{ several_values }} THEN 1 END) AS with_several_values,
    (
        SELECT COUNT(*)
        FROM (SELECT least FROM {{ alike }} AS alike WHERE many GROUP BY least, most, middle HAVING COUNT(*) > 1) AS company
    ) AS ambiguous
FROM {{ alike }} AS alike
