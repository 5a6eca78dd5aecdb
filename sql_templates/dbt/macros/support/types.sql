{# Types that warehouses spell in different ways. #}

{# Counts: whole numbers up to nine quintillion. #}
{% macro type_of_counts() %}{{ return(adapter.dispatch('type_of_counts', 'sqlaudit')()) }}{% endmacro %}
{% macro default__type_of_counts() %}{{ return('BIGINT') }}{% endmacro %}
{% macro bigquery__type_of_counts() %}{{ return('INT64') }}{% endmacro %}

{# Products of counts, exact up to 38 digits. #}
{% macro type_of_products() %}{{ return(adapter.dispatch('type_of_products', 'sqlaudit')()) }}{% endmacro %}
{% macro default__type_of_products() %}{{ return('DECIMAL(38, 0)') }}{% endmacro %}
{% macro postgres__type_of_products() %}{{ return('DECIMAL(38, 0)') }}{% endmacro %}
{% macro snowflake__type_of_products() %}{{ return('DECIMAL(38, 0)') }}{% endmacro %}
{% macro spark__type_of_products() %}{{ return('DECIMAL(38, 0)') }}{% endmacro %}
{% macro duckdb__type_of_products() %}{{ return('HUGEINT') }}{% endmacro %}
{% macro bigquery__type_of_products() %}{{ return('BIGNUMERIC') }}{% endmacro %}

{# Floating point of double precision. #}
{% macro type_of_floats() %}{{ return(adapter.dispatch('type_of_floats', 'sqlaudit')()) }}{% endmacro %}
{% macro default__type_of_floats() %}{{ return('DOUBLE PRECISION') }}{% endmacro %}
{% macro duckdb__type_of_floats() %}{{ return('DOUBLE') }}{% endmacro %}
{% macro snowflake__type_of_floats() %}{{ return('DOUBLE') }}{% endmacro %}
{% macro spark__type_of_floats() %}{{ return('DOUBLE') }}{% endmacro %}
{% macro bigquery__type_of_floats() %}{{ return('FLOAT64') }}{% endmacro %}

{# Sums with up to nine decimal places. #}
{% macro type_of_sums() %}{{ return(adapter.dispatch('type_of_sums', 'sqlaudit')()) }}{% endmacro %}
{% macro default__type_of_sums() %}{{ return('DECIMAL(28, 9)') }}{% endmacro %}
{% macro bigquery__type_of_sums() %}{{ return('BIGNUMERIC') }}{% endmacro %}

{# What tells values apart that a collation takes for equal, as standalone statements spell it; nothing where no collation does
   or nobody has looked. #}
{% macro letters_of(value) %}{{ return(adapter.dispatch('letters_of', 'sqlaudit')(value)) }}{% endmacro %}
{% macro default__letters_of(value) %}{{ return('') }}{% endmacro %}
{% macro bigquery__letters_of(value) %}{{ return('CAST(CAST(' ~ value ~ ' AS STRING) AS BYTES)') }}{% endmacro %}
{% macro duckdb__letters_of(value) %}{{ return('ENCODE(CAST(' ~ value ~ ' AS VARCHAR))') }}{% endmacro %}
{% macro mysql__letters_of(value) %}{{ return('CAST(' ~ value ~ ' AS BINARY)') }}{% endmacro %}
{% macro mariadb__letters_of(value) %}{{ return('CAST(' ~ value ~ ' AS BINARY)') }}{% endmacro %}
{% macro postgres__letters_of(value) %}{{ return('CAST(' ~ value ~ ' AS TEXT) COLLATE "C"') }}{% endmacro %}
{% macro redshift__letters_of(value) %}{{ return('FNV_HASH(' ~ value ~ ')') }}{% endmacro %}
{% macro snowflake__letters_of(value) %}{{ return('TO_BINARY(CAST(' ~ value ~ " AS VARCHAR), 'UTF-8')") }}{% endmacro %}
{% macro spark__letters_of(value) %}{{ return('CAST(CAST(' ~ value ~ ' AS STRING) AS BINARY)') }}{% endmacro %}
{% macro sqlite__letters_of(value) %}{{ return('CAST(' ~ value ~ ' AS BLOB)') }}{% endmacro %}
{% macro sqlserver__letters_of(value) %}{{ return('CAST(' ~ value ~ ' AS VARBINARY(8000))') }}{% endmacro %}

{# The letters of all columns, or an empty list; and the columns beside them. #}
{% macro letters_of_all(columns) -%}
{%- set found = [] -%}
{%- for column in columns if sqlaudit.letters_of(column) -%}
    {%- do found.append(sqlaudit.letters_of(column)) -%}
{%- endfor -%}
{{ return(found) }}
{%- endmacro %}
{% macro with_letters(columns) -%}
{{ return((columns | list) + sqlaudit.letters_of_all(columns)) }}
{%- endmacro %}

{# Texts of any length. #}
{% macro type_of_texts() %}{{ return(adapter.dispatch('type_of_texts', 'sqlaudit')()) }}{% endmacro %}
{% macro default__type_of_texts() %}{{ return('VARCHAR') }}{% endmacro %}
{% macro bigquery__type_of_texts() %}{{ return('STRING') }}{% endmacro %}
{% macro clickhouse__type_of_texts() %}{{ return('Nullable(String)') }}{% endmacro %}
{% macro mariadb__type_of_texts() %}{{ return('CHAR') }}{% endmacro %}
{% macro mysql__type_of_texts() %}{{ return('CHAR') }}{% endmacro %}
{% macro postgres__type_of_texts() %}{{ return('TEXT') }}{% endmacro %}
{% macro redshift__type_of_texts() %}{{ return('VARCHAR(MAX)') }}{% endmacro %}
{% macro snowflake__type_of_texts() %}{{ return('TEXT') }}{% endmacro %}
{% macro spark__type_of_texts() %}{{ return('STRING') }}{% endmacro %}
{% macro sqlite__type_of_texts() %}{{ return('TEXT') }}{% endmacro %}
{% macro sqlserver__type_of_texts() %}{{ return('VARCHAR(MAX)') }}{% endmacro %}

{# How many values of a column are written in several ways but for case and blanks. #}
{% macro spelled_in_several_ways(column, relation='target') -%}
{%- set text = 'CAST(' ~ column ~ ' AS ' ~ sqlaudit.type_of_texts() ~ ')' -%}
{%- set fold = 'LOWER(TRIM(' ~ text ~ '))' -%}
{{ return('(SELECT COUNT(*) FROM (SELECT ' ~ fold ~ ' AS spelled FROM ' ~ relation ~ ' GROUP BY ' ~ fold ~ ' HAVING COUNT(DISTINCT ' ~ text ~ ') > 1) AS spelled)') }}
{%- endmacro %}

{# How many sensitive values are written in several ways: equal to the database, or but for case and blanks. #}
{% macro written_in_several_ways() -%}
{%- set letters = sqlaudit.letters_of('s') -%}
{%- set equal = '(SELECT COUNT(*) FROM (SELECT s FROM target GROUP BY s HAVING COUNT(DISTINCT ' ~ letters ~ ') > 1) AS found)' if letters else '0' -%}
{{ return('(' ~ equal ~ ' + ' ~ sqlaudit.spelled_in_several_ways('s') ~ ')') }}
{%- endmacro %}
