{# What would tell whether a part of a table changed: a checksum of its rows in any order, the parts being the values of the
   first column. `hashed` is the hash of a row. #}
SELECT {{ columns[0] }}, COUNT(*) AS row_total, SUM(CAST({{ hashed }} AS NUMERIC(38, 0))) AS checksum
FROM {{ source }}
GROUP BY {{ columns[0] }}
