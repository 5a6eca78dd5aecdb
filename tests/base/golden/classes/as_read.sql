/* sqlaudit: as_read */
LOWER(TRIM(REGEXP_REPLACE(REGEXP_REPLACE(CAST("person" AS VARCHAR), '[-]', '', 'g'), '[[:space:]_]+', ' ', 'g')))
