/* sqlaudit: release_query_key */
CAST("zip" AS VARCHAR)
