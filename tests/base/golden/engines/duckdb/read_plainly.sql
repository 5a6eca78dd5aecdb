/* sqlaudit: read_plainly */
-- which columns of a text file have a number that is not written as its type writes it
SELECT
    coalesce(bool_or(CAST(TRY_CAST("a" AS BIGINT) AS VARCHAR) <> "a"), FALSE),
    coalesce(bool_or(CAST(TRY_CAST("b" AS DOUBLE) AS VARCHAR) <> "b"), FALSE)
FROM patients
