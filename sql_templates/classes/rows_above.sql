{# How many rows lie in classes of more than so many members. #}
SELECT SUM(table_rows) AS lost
FROM {{ classes }} AS class
WHERE n > {{ most }}
