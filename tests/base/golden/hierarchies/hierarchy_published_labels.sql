/* sqlaudit: hierarchy_published_labels */
LEFT JOIN (VALUES
    ('a''b', 'it''s')
) AS "labels"(sqlaudit_value, sqlaudit_label) ON CAST("v" AS VARCHAR) = "labels".sqlaudit_value OR ("v" IS NULL AND "labels".sqlaudit_value IS NULL)
