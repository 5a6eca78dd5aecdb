{# Whether a type holds what a text says. A number's text may have more digits than its type: two people's numbers would
   become one. Two texts of numbers are compared by sign, digits without zeros at either end, and power of ten, since the
   value of a DOUBLE is written with as many digits as tell it from its neighbours. #}
{% macro canonical(text) %}
list_transform(
    [regexp_extract({{ text }}, '^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$', ['sign', 'whole', 'part', 'power'])],
    lambda sqlaudit_number: CASE
        WHEN sqlaudit_number.whole || sqlaudit_number.part = '' THEN NULL
        WHEN trim(sqlaudit_number.whole || sqlaudit_number.part, '0') = '' THEN '0'
        ELSE (CASE WHEN sqlaudit_number.sign = '-' THEN '-' ELSE '' END) || trim(sqlaudit_number.whole || sqlaudit_number.part, '0') || 'e'
            || (coalesce(TRY_CAST(sqlaudit_number.power AS BIGINT), 0) - length(sqlaudit_number.part)
                + length(sqlaudit_number.whole || sqlaudit_number.part) - length(rtrim(sqlaudit_number.whole || sqlaudit_number.part, '0')))
    END)[1]
{%- endmacro %}
{% macro number_changed(text, type) %}
(TRY_CAST({{ text }} AS {{ type }}) IS NOT NULL AND CASE
    WHEN CAST(TRY_CAST({{ text }} AS {{ type }}) AS VARCHAR) = {{ text }} THEN FALSE
    {% if type in ('DOUBLE', 'FLOAT') %}
    WHEN regexp_matches(lower(trim({{ text }})), '^[+-]?(inf|infinity|nan)$') THEN FALSE
    {% else %}
    WHEN regexp_matches({{ text }}, '^[ ]*[+-]?0[0-9]') THEN TRUE
    {% endif %}
    ELSE coalesce({{ canonical('trim(' ~ text ~ ')') }} <> {{ canonical('CAST(TRY_CAST(' ~ text ~ ' AS ' ~ type ~ ') AS VARCHAR)') }}, TRUE)
END)
{%- endmacro %}
{% macro time_changed(text, type) %}
coalesce(regexp_matches({{ text }}, '{{ ':' if type == 'DATE' else '[0-9][.,][0-9]{6}[0-9]*[1-9]' }}'), FALSE)
{%- endmacro %}
{% macro changed(text, type) %}
{% if type in ('VARCHAR', 'BOOLEAN', 'UUID') %}FALSE
{%- elif type.startswith(('DATE', 'TIME')) %}{{ time_changed(text, type) }}
{%- else %}{{ number_changed(text, type) }}
{%- endif %}
{%- endmacro %}
