{# How many rows of each column are finer than HIPAA's Safe Harbor allows; only counts leave the database. `tests` are pairs
   of a kind and a column. A number has lost the leading zeros of its ZIP area, and a text of digits may have. 90 is the
   category of 90 or over, and nobody is older than 150: such numbers are codes, and so are NaN and infinity. Dates as numbers are days, months or
   moments, counted in any way, unless they are years. #}
{% macro has(value, pattern) -%}
REGEXP_MATCHES({{ value }}, '{{ pattern }}')
{%- endmacro %}
{% macro text(column) %}TRIM(CAST({{ column }} AS VARCHAR)){% endmacro %}
{% macro padded(value) %}SUBSTRING('000', 1, 3 - LENGTH({{ value }})) || {{ value }}{% endmacro %}
{% macro area(value) -%}
CASE
    WHEN {{ has(value, "^[0-9]{1,3}$") }} THEN {{ padded(value) }}
    WHEN {{ has(value, "^[0-9]{3}[-*_#Xx]*$") }} THEN SUBSTRING({{ value }}, 1, 3)
END
{%- endmacro %}
{% macro whole(column) %}CASE WHEN {{ column }} BETWEEN 0 AND 999 THEN CAST(CAST({{ column }} AS BIGINT) AS VARCHAR) END{% endmacro %}
{% macro condition(kind, column) -%}
{% if kind == "zip_text" -%}
NOT {{ has(text(column), "^[0-9]{0,3}[-*_#Xx]*$") }}
AND LOWER({{ text(column) }}) NOT IN ('?', '.', 'na', 'n/a', 'nan', 'null', 'nil', 'none', 'missing', 'unknown')
{%- elif kind == "zip_number" -%}
{{ column }} BETWEEN 1000 AND 999999999
{%- elif kind == "area_text" -%}
{{ area(text(column)) }} IN ({% for one in areas %}'{{ one }}'{{ ", " if not loop.last }}{% endfor %})
{%- elif kind == "area_number" -%}
{{ padded(whole(column)) }} IN ({% for one in areas %}'{{ one }}'{{ ", " if not loop.last }}{% endfor %})
{%- elif kind == "age_text" -%}
{{ has(text(column), "(^|[^0-9.,])(9[1-9]|1[0-4][0-9])($|[^0-9])") }}
{%- elif kind == "age_number" -%}
{{ column }} > 90 AND {{ column }} < 150
{%- elif kind == "date" -%}
DATE_TRUNC('year', {{ column }}) <> {{ column }}
{%- elif kind == "date_text" -%}
{{ has(text(column), "^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2}))([T ].*)?$") }}
AND NOT {{ has(text(column), "^[0-9]{4}[-/.]0?1[-/.]0?1([T ][0:.]*)?$") }}
{%- elif kind == "part_text" -%}
{{ has(text(column), "^([0-9]{4}[-/. ]?(0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/.][0-9]{4}|(1[89]|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])|[0-9]{4}[- ]?[QWqw][0-9]{1,2}|[QWqw][0-9]{1,2}[- ]?[0-9]{4})$") }}
OR {{ has("LOWER(" ~ text(column) ~ ")", "(^|[^a-z])(jan|feb|fév|mar|mär|apr|avr|may|mai|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep|oct|okt|ott|nov|dec|déc|dez|dic)[a-zéû]*[^a-z]*[0-9]") }}
{%- elif kind == "date_number" -%}
{{ column }} BETWEEN 10000 AND 99999999999999
{%- elif kind == "born_number" -%}
{{ column }} BETWEEN 1850 AND {{ oldest - 1 }}
{%- elif kind == "born_date" -%}
EXTRACT(YEAR FROM {{ column }}) < {{ oldest }}
{%- elif kind == "born_text" -%}
CASE WHEN {{ has(text(column), "^(18|19|20)[0-9]{2}$") }} THEN CAST({{ text(column) }} AS INTEGER) END < {{ oldest }}
{%- endif %}
{%- endmacro %}
SELECT
    COUNT(*) AS rows_looked_at
{% for kind, column in tests %}
    , SUM(CASE WHEN {{ condition(kind, column) }} THEN 1 ELSE 0 END) AS t{{ loop.index0 }}
{% endfor %}
FROM {{ source }}
