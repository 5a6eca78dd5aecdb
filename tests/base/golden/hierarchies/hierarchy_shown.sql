/* sqlaudit: hierarchy_shown */
SELECT
    key
    , l1
    , l2
    , l3
FROM patients
ORDER BY id
LIMIT 50
