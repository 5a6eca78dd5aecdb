/* sqlaudit: read_header_values */
-- in how many columns of a CSV file the field of the first line is a value of the column, too
SELECT CAST(coalesce(bool_or("a" = $1), FALSE) AS INTEGER)
FROM patients
