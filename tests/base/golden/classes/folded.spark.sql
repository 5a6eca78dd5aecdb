/* sqlaudit: folded */
NULLIF(
  CASE
    WHEN CAST("person" AS STRING) RLIKE '^[a-z]+\\z'
    THEN LOWER(CAST("person" AS STRING))
    WHEN CAST("person" AS STRING) RLIKE '[f]'
    THEN TRIM(
      REGEXP_REPLACE(
        REPLACE(
          REPLACE(
            TRANSLATE(
              LOWER(REGEXP_REPLACE(TRANSLATE(CAST("person" AS STRING), 'Ｐ', 'P'), '[-]+', '')),
              'ς',
              'σ'
            ),
            'ß',
            'ss'
          ),
          'i̇',
          'i'
        ),
        '[_]+',
        ' '
      )
    )
    ELSE TRIM(
      REGEXP_REPLACE(
        REPLACE(
          REPLACE(
            TRANSLATE(LOWER(REGEXP_REPLACE(CAST("person" AS STRING), '[-]+', '')), 'ς', 'σ'),
            'ß',
            'ss'
          ),
          'i̇',
          'i'
        ),
        '[_]+',
        ' '
      )
    )
  END,
  ''
)
