/* sqlaudit: hierarchy_dictionary */
SELECT
    found.id,
    found.v AS v,
    found.key AS key,
    found.row_count,
    TRUE AS covered
FROM patients AS found
