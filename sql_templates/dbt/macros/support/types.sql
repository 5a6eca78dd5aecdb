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

{# The letters of all columns, or an empty list; and the columns beside those of them whose values may be texts. #}
{% macro letters_of_all(columns, listed=none) -%}
{%- set found = [] -%}
{%- for column in columns if sqlaudit.letters_of(column) and not sqlaudit.holds_no_text(listed, column) -%}
    {%- do found.append(sqlaudit.letters_of(column)) -%}
{%- endfor -%}
{{ return(found) }}
{%- endmacro %}
{% macro with_letters(columns, listed=none) -%}
{{ return((columns | list) + sqlaudit.letters_of_all(columns, listed)) }}
{%- endmacro %}

{# Whether a column is of numbers, dates or times, which have one spelling. #}
{% macro holds_no_text(listed, column) -%}
{%- set bare = sqlaudit.without_quotes(column) if listed and listed.types else column -%}
{{ return(bare != column and modules.re.match(sqlaudit.ordered_types(), (listed.types[bare] or '') | lower) is not none) }}
{%- endmacro %}
