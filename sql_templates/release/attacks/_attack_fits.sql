{# Columns of two tables side by side, as texts in one spelling: '=' and the value, and for NULL a text of its own side
   where NULLs are equal to nothing, else the same text on both. `form`: double = both sides hold numbers of different
   types; float and decimal = only this side holds numbers, and a whole one is written without decimals; else as it is. #}
{% macro text_of(column, form, null) -%}
{% if form == "double" -%}
{% set text = "CAST(CAST(" ~ column ~ " AS DOUBLE) AS VARCHAR)" -%}
{% elif form == "float" -%}
{% set text = "CASE WHEN FLOOR(" ~ column ~ ") = " ~ column ~ " AND ABS(" ~ column ~ ") < 1000000000000000 THEN CAST(CAST(" ~ column ~ " AS BIGINT) AS VARCHAR) ELSE CAST(" ~ column ~ " AS VARCHAR) END" -%}
{% elif form == "decimal" -%}
{% set plain = "CAST(" ~ column ~ " AS VARCHAR)" -%}
{% set text = "CASE WHEN POSITION('.' IN " ~ plain ~ ") > 0 THEN RTRIM(RTRIM(" ~ plain ~ ", '0'), '.') ELSE " ~ plain ~ " END" -%}
{% else -%}
{% set text = "CAST(" ~ column ~ " AS VARCHAR)" -%}
{% endif -%}
COALESCE('=' || {{ text }}, '{{ null }}')
{%- endmacro %}

{# Which cells of the first table fit which of the second: equal ones, and the pairs that two parameters list. #}
{% macro fits(matches, mine, theirs) %}
{% for match in matches if match.listed %}
fits_{{ match.name }} AS MATERIALIZED (
    SELECT mine.{{ match.name }} AS mine, theirs.{{ match.name }} AS theirs
    FROM (SELECT DISTINCT {{ match.name }} FROM {{ mine }}) AS mine
    JOIN (SELECT DISTINCT {{ match.name }} FROM {{ theirs }}) AS theirs ON mine.{{ match.name }} = theirs.{{ match.name }}
    UNION
    SELECT
        UNNEST(CAST({{ match.listed[0] }} AS VARCHAR[])) AS mine,
        UNNEST(CAST({{ match.listed[1] }} AS VARCHAR[])) AS theirs
),
{% endfor %}
{% endmacro %}

{# The second table joined to the first by all columns. #}
{% macro joined(matches, mine, theirs) %}
FROM {{ theirs }} AS theirs
{% for match in matches if match.listed %}
JOIN fits_{{ match.name }} ON fits_{{ match.name }}.theirs = theirs.{{ match.name }}
{% endfor %}
JOIN {{ mine }} AS mine ON {% for match in matches %}mine.{{ match.name }} = {{ "fits_" ~ match.name ~ ".mine" if match.listed else "theirs." ~ match.name }}{{ " AND " if not loop.last }}{% endfor %}{{ "1 = 1" if not matches }}

{% endmacro %}
