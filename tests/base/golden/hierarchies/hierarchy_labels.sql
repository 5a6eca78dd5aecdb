/* sqlaudit: hierarchy_labels */
SELECT
    key
    , l1
FROM patients
