/* sqlaudit: hierarchy_default */
COALESCE(zip, CASE WHEN "v" IS NOT NULL THEN 'rest' END)
