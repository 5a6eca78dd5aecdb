/* sqlaudit: release_query_signature */
CASE WHEN "q" = 5 THEN 1 WHEN NOT ("q" = 5) THEN 0 ELSE 2 END + CASE WHEN "q" > 7 THEN 3 WHEN NOT ("q" > 7) THEN 0 ELSE 6 END
