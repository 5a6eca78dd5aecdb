{# A day or a moment as its quarter of a year. #}
{% macro quarter(column, dialect) -%}
DATE_TRUNC('quarter', {{ column }})
{%- endmacro %}
