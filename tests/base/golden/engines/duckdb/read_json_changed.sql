/* sqlaudit: read_json_changed */
-- how many records of a JSON file are no objects; and which of its columns have a number that the column's type would change
WITH records AS (
    SELECT array_to_string(list_transform(
    regexp_extract_all(CAST(json AS VARCHAR), '(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*|[^"0-9-]+|.'),
    lambda t: CASE WHEN regexp_matches(t, '^-?[0-9]') THEN '"' || t || '"' ELSE t END
), '') AS texts, array_to_string(list_transform(
    regexp_extract_all(CAST(json AS VARCHAR), '(?s)"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*|[^"0-9-]+|.'),
    lambda t: CASE WHEN regexp_matches(t, '^-?[0-9]') THEN '"number:' || t || '"' ELSE t END
), '') AS marked, json FROM patients
),
fields AS (
    SELECT
        ltrim(CAST(json AS VARCHAR))[1] <> '{' AS is_alone
        , json_extract_string(texts, '$.age') AS c1
        , CAST(json_extract(marked, '$.ward') AS VARCHAR) AS c2
    FROM records
)
SELECT count(*) FILTER (WHERE is_alone)
    , coalesce(bool_or((TRY_CAST(c1 AS DOUBLE) IS NOT NULL AND CASE
    WHEN CAST(TRY_CAST(c1 AS DOUBLE) AS VARCHAR) = c1 THEN FALSE
    WHEN regexp_matches(lower(trim(c1)), '^[+-]?(inf|infinity|nan)$') THEN FALSE
    ELSE coalesce(list_transform(
    [regexp_extract(trim(c1), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda m: CASE
        WHEN m.whole || m.part = '' THEN NULL
        WHEN trim(m.whole || m.part, '0') = '' THEN '0'
        ELSE (CASE WHEN m.sign = '-' THEN '-' ELSE '' END) || trim(m.whole || m.part, '0') || 'e'
            || (coalesce(TRY_CAST(m.power AS BIGINT), 0) - length(m.part)
                + length(m.whole || m.part) - length(rtrim(m.whole || m.part, '0')))
    END)[1] <> list_transform(
    [regexp_extract(CAST(TRY_CAST(c1 AS DOUBLE) AS VARCHAR), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda m: CASE
        WHEN m.whole || m.part = '' THEN NULL
        WHEN trim(m.whole || m.part, '0') = '' THEN '0'
        ELSE (CASE WHEN m.sign = '-' THEN '-' ELSE '' END) || trim(m.whole || m.part, '0') || 'e'
            || (coalesce(TRY_CAST(m.power AS BIGINT), 0) - length(m.part)
                + length(m.whole || m.part) - length(rtrim(m.whole || m.part, '0')))
    END)[1], TRUE)
END)), FALSE)
    , coalesce(bool_or(len(list_filter(
    regexp_extract_all(c2, '"number:(-?[0-9][-+.0-9eE]*)"', 1),
    lambda t: (TRY_CAST(t AS DOUBLE) IS NOT NULL AND CASE
    WHEN CAST(TRY_CAST(t AS DOUBLE) AS VARCHAR) = t THEN FALSE
    WHEN regexp_matches(lower(trim(t)), '^[+-]?(inf|infinity|nan)$') THEN FALSE
    ELSE coalesce(list_transform(
    [regexp_extract(trim(t), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda m: CASE
        WHEN m.whole || m.part = '' THEN NULL
        WHEN trim(m.whole || m.part, '0') = '' THEN '0'
        ELSE (CASE WHEN m.sign = '-' THEN '-' ELSE '' END) || trim(m.whole || m.part, '0') || 'e'
            || (coalesce(TRY_CAST(m.power AS BIGINT), 0) - length(m.part)
                + length(m.whole || m.part) - length(rtrim(m.whole || m.part, '0')))
    END)[1] <> list_transform(
    [regexp_extract(CAST(TRY_CAST(t AS DOUBLE) AS VARCHAR), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda m: CASE
        WHEN m.whole || m.part = '' THEN NULL
        WHEN trim(m.whole || m.part, '0') = '' THEN '0'
        ELSE (CASE WHEN m.sign = '-' THEN '-' ELSE '' END) || trim(m.whole || m.part, '0') || 'e'
            || (coalesce(TRY_CAST(m.power AS BIGINT), 0) - length(m.part)
                + length(m.whole || m.part) - length(rtrim(m.whole || m.part, '0')))
    END)[1], TRUE)
END))) > 0), FALSE)
FROM fields
