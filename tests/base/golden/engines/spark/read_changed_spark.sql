/* sqlaudit: read_changed_spark */
WITH `values` AS (
    SELECT stack(
        2
        , 0, 'whole', array(trim(age)), CAST(try_cast(trim(age) AS int) AS STRING)
        , 1, 'nested', regexp_extract_all(to_json(wards), '"(-?[0-9][-+.0-9eE]*)"', 1), CAST(NULL AS STRING)
    ) AS (place, kind, texts, typed)
    FROM patients
),
texts AS (
    SELECT place, kind, text, CASE WHEN kind = 'nested' THEN CAST(try_cast(text AS DOUBLE) AS STRING) ELSE typed END AS typed
    FROM `values` LATERAL VIEW explode(texts) AS text
),
differing AS (
    SELECT place, kind, text, named_struct(
    'sign', regexp_extract(text, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 1),
    'part', regexp_extract(text, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 3),
    'digits', concat(regexp_extract(text, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 2), regexp_extract(text, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 3)),
    'power', regexp_extract(text, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 4)
) AS t, named_struct(
    'sign', regexp_extract(typed, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 1),
    'part', regexp_extract(typed, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 3),
    'digits', concat(regexp_extract(typed, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 2), regexp_extract(typed, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 3)),
    'power', regexp_extract(typed, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', 4)
) AS v
    FROM texts
    WHERE text IS NOT NULL AND NOT text <=> typed
),
compared AS (
    SELECT
        place,
        CASE
            WHEN kind = 'time' THEN text RLIKE '[0-9][.,][0-9]{6}[0-9]*[1-9]'
            WHEN kind = 'whole' AND text RLIKE '^[+-]?0[0-9]' THEN TRUE
            WHEN kind <> 'whole' AND lower(text) RLIKE '^[+-]?(inf|infinity|nan)$' THEN FALSE
            ELSE coalesce(CASE
    WHEN t.digits = '' THEN NULL
    WHEN trim(BOTH '0' FROM t.digits) = '' THEN '0'
    ELSE concat(
        CASE WHEN t.sign = '-' THEN '-' ELSE '' END, trim(BOTH '0' FROM t.digits), 'e',
        coalesce(try_cast(t.power AS BIGINT), 0) - length(t.part)
            + length(t.digits) - length(trim(TRAILING '0' FROM t.digits))
    )
END <> CASE
    WHEN v.digits = '' THEN NULL
    WHEN trim(BOTH '0' FROM v.digits) = '' THEN '0'
    ELSE concat(
        CASE WHEN v.sign = '-' THEN '-' ELSE '' END, trim(BOTH '0' FROM v.digits), 'e',
        coalesce(try_cast(v.power AS BIGINT), 0) - length(v.part)
            + length(v.digits) - length(trim(TRAILING '0' FROM v.digits))
    )
END, TRUE)
        END AS is_changed
    FROM differing
)
SELECT collect_set(place) AS places
FROM (
    SELECT place FROM compared WHERE is_changed
    UNION ALL
    SELECT place FROM texts WHERE kind = 'time' AND typed IS NOT NULL GROUP BY place, typed HAVING min(text) <> max(text)
) AS found
