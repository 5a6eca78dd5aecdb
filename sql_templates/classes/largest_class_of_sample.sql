{# The largest class among some rows from all over the table: a guess at how wide lanes must be, checked afterwards.
   DuckDB takes whole blocks of rows, which it need not read otherwise. #}
{% import "classes/_rows.sql" as rows %}
{% import "classes/_target.sql" as parts with context %}
{% set key = rows.key_columns(keys, false) %}
WITH {{ parts.target(source, keys, none, none, false) }}
SELECT MAX(n) AS largest
FROM (
    SELECT COUNT(*) AS n
    FROM (SELECT {{ key }} FROM target {{ "TABLESAMPLE (" ~ share ~ " PERCENT)" if dialect == "spark" else "USING SAMPLE " ~ share ~ " PERCENT (SYSTEM, 7)" }}) AS sampled
    GROUP BY {{ key }}
) AS counted
