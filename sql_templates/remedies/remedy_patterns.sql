{# The row patterns of a table as whole numbers: each with its number, how many rows have it, and for every key column the
   rank of its value there (0 = NULL). No value leaves the database. #}
{% import "remedies/_remedy.sql" as remedy with context %}
WITH {{ remedy.patterns() }}
SELECT *
FROM coded
ORDER BY class_number
