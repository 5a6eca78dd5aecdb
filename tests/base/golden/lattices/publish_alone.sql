/* sqlaudit: publish_alone */
CASE WHEN given."age" IS NULL THEN ROW_NUMBER() OVER () END
