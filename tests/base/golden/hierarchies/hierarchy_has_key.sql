/* sqlaudit: hierarchy_has_key */
CAST("v" AS VARCHAR) = zip OR ("v" IS NULL AND zip IS NULL)
