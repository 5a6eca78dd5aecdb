/* sqlaudit: folded */
NULLIF(
  CASE
    WHEN CAST("person" AS TEXT) ~ '^[a-z]+$'
    THEN TRANSLATE(
      CAST("person" AS TEXT),
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
      'abcdefghijklmnopqrstuvwxyz'
    )
    WHEN CAST("person" AS TEXT) ~ '[f]'
    THEN TRIM(
      REGEXP_REPLACE(
        NORMALIZE(
          REPLACE(
            REPLACE(
              TRANSLATE(
                LOWER(
                  NORMALIZE(
                    REGEXP_REPLACE(TRANSLATE(CAST("person" AS TEXT), 'Ｐ', 'P'), '[-]+', '', 'g'),
                    NFC
                  ) COLLATE "default"
                ),
                'ς',
                'σ'
              ),
              'ß',
              'ss'
            ),
            'i̇',
            'i'
          ),
          NFC
        ),
        '[_]+',
        ' ',
        'g'
      )
    )
    ELSE TRIM(
      REGEXP_REPLACE(
        NORMALIZE(
          REPLACE(
            REPLACE(
              TRANSLATE(
                LOWER(
                  NORMALIZE(REGEXP_REPLACE(CAST("person" AS TEXT), '[-]+', '', 'g'), NFC) COLLATE "default"
                ),
                'ς',
                'σ'
              ),
              'ß',
              'ss'
            ),
            'i̇',
            'i'
          ),
          NFC
        ),
        '[_]+',
        ' ',
        'g'
      )
    )
  END,
  ''
)
