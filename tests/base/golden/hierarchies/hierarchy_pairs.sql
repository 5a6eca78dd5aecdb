/* sqlaudit: hierarchy_pairs */
SELECT code, id
FROM patients
