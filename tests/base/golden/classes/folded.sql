/* sqlaudit: folded */
NULLIF(CASE
    WHEN REGEXP_MATCHES(CAST("person" AS VARCHAR), '^[a-z]+$') THEN LOWER(CAST("person" AS VARCHAR))
    WHEN REGEXP_MATCHES(CAST("person" AS VARCHAR), '[f]') THEN TRIM(REGEXP_REPLACE(NFC_NORMALIZE(REPLACE(REPLACE(TRANSLATE(LOWER(NFC_NORMALIZE(REGEXP_REPLACE(TRANSLATE(CAST("person" AS VARCHAR), 'Ｐ', 'P'), '[-]+', '', 'g'))), 'ς', 'σ'), 'ß', 'ss'), 'i̇', 'i')), '[_]+', ' ', 'g'))
    ELSE TRIM(REGEXP_REPLACE(NFC_NORMALIZE(REPLACE(REPLACE(TRANSLATE(LOWER(NFC_NORMALIZE(REGEXP_REPLACE(CAST("person" AS VARCHAR), '[-]+', '', 'g'))), 'ς', 'σ'), 'ß', 'ss'), 'i̇', 'i')), '[_]+', ' ', 'g'))
END
, '')
