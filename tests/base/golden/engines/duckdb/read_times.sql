/* sqlaudit: read_times */
-- in which columns of texts a date or time is not written as the database writes it; or how many texts are one value, `counted`
SELECT
    coalesce(bool_or("a" <> CAST(TRY_CAST("a" AS DATE) AS VARCHAR)), FALSE),
    coalesce(bool_or("b" <> strftime(CAST(try_strptime("b", '%d.%m.%Y') AS TIMESTAMP), '%d.%m.%Y')), FALSE)
FROM patients
