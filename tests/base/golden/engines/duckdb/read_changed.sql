/* sqlaudit: read_changed */
-- which columns of a text file have a value that the column's type would change; which dates and times are written otherwise
SELECT
    coalesce(bool_or((TRY_CAST("a" AS BIGINT) IS NOT NULL AND CASE
    WHEN CAST(TRY_CAST("a" AS BIGINT) AS VARCHAR) = "a" THEN FALSE
    WHEN regexp_matches("a", '^[ ]*[+-]?0[0-9]') THEN TRUE
    ELSE coalesce(list_transform(
    [regexp_extract(trim("a"), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda sqlaudit_number: CASE
        WHEN sqlaudit_number.whole || sqlaudit_number.part = '' THEN NULL
        WHEN trim(sqlaudit_number.whole || sqlaudit_number.part, '0') = '' THEN '0'
        ELSE (CASE WHEN sqlaudit_number.sign = '-' THEN '-' ELSE '' END) || trim(sqlaudit_number.whole || sqlaudit_number.part, '0') || 'e'
            || (coalesce(TRY_CAST(sqlaudit_number.power AS BIGINT), 0) - length(sqlaudit_number.part)
                + length(sqlaudit_number.whole || sqlaudit_number.part) - length(rtrim(sqlaudit_number.whole || sqlaudit_number.part, '0')))
    END)[1] <> list_transform(
    [regexp_extract(CAST(TRY_CAST("a" AS BIGINT) AS VARCHAR), '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda sqlaudit_number: CASE
        WHEN sqlaudit_number.whole || sqlaudit_number.part = '' THEN NULL
        WHEN trim(sqlaudit_number.whole || sqlaudit_number.part, '0') = '' THEN '0'
        ELSE (CASE WHEN sqlaudit_number.sign = '-' THEN '-' ELSE '' END) || trim(sqlaudit_number.whole || sqlaudit_number.part, '0') || 'e'
            || (coalesce(TRY_CAST(sqlaudit_number.power AS BIGINT), 0) - length(sqlaudit_number.part)
                + length(sqlaudit_number.whole || sqlaudit_number.part) - length(rtrim(sqlaudit_number.whole || sqlaudit_number.part, '0')))
    END)[1], TRUE)
END)), FALSE),
    coalesce(bool_or(coalesce(regexp_matches("b", ':'), FALSE)), FALSE),
    coalesce(bool_or("b" <> CAST(TRY_CAST("b" AS DATE) AS VARCHAR)), FALSE)
FROM patients
