/* sqlaudit: read_json_long */
-- whether a JSON file has a number anywhere that a DOUBLE would change
WITH written AS (
    SELECT unnest(list_filter(list_filter(
    regexp_extract_all(CAST(json AS VARCHAR), '(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*'), lambda t: t[1] <> '"'
), lambda t: length(t) > 15 OR contains(lower(t), 'e'))) AS number
    FROM patients
)
SELECT coalesce(bool_or((TRY_CAST(number AS DOUBLE) IS NOT NULL AND CASE
    WHEN CAST(TRY_CAST(number AS DOUBLE) AS VARCHAR) = number THEN FALSE
    WHEN regexp_matches(lower(trim(number)), '^[+-]?(inf|infinity|nan)$') THEN FALSE
    ELSE coalesce(list_transform(
    [regexp_extract(trim(number), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda m: CASE
        WHEN m.whole || m.part = '' THEN NULL
        WHEN trim(m.whole || m.part, '0') = '' THEN '0'
        ELSE (CASE WHEN m.sign = '-' THEN '-' ELSE '' END) || trim(m.whole || m.part, '0') || 'e'
            || (coalesce(TRY_CAST(m.power AS BIGINT), 0) - length(m.part)
                + length(m.whole || m.part) - length(rtrim(m.whole || m.part, '0')))
    END)[1] <> list_transform(
    [regexp_extract(CAST(TRY_CAST(number AS DOUBLE) AS VARCHAR), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda m: CASE
        WHEN m.whole || m.part = '' THEN NULL
        WHEN trim(m.whole || m.part, '0') = '' THEN '0'
        ELSE (CASE WHEN m.sign = '-' THEN '-' ELSE '' END) || trim(m.whole || m.part, '0') || 'e'
            || (coalesce(TRY_CAST(m.power AS BIGINT), 0) - length(m.part)
                + length(m.whole || m.part) - length(rtrim(m.whole || m.part, '0')))
    END)[1], TRUE)
END) OR TRY_CAST(number AS DOUBLE) IS NULL), FALSE)
FROM written
