{# A column with its values in ten bands of about as many rows each; missing values stay missing. #}
{% macro bands(column, dialect) -%}
CASE WHEN {{ column }} IS NOT NULL THEN CAST(FLOOR(PERCENT_RANK() OVER (ORDER BY {{ column }}) * 10) AS INTEGER) END
{%- endmacro %}

{# A text column cut after its second character. #}
{% macro prefix(column, dialect) -%}
SUBSTRING(CAST({{ column }} AS {{ "STRING" if dialect == "spark" else "VARCHAR" }}), 1, 2)
{%- endmacro %}
