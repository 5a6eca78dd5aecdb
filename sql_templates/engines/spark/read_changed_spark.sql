{# As `read_changed.sql`, in Spark's own SQL: an expression a column, which stands alone in a SELECT. #}
{% set pattern = "'^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$'" %}
{% macro canonical(text) %}
transform(
    array(named_struct(
        'sign', regexp_extract({{ text }}, {{ pattern }}, 1),
        'part', regexp_extract({{ text }}, {{ pattern }}, 3),
        'digits', concat(regexp_extract({{ text }}, {{ pattern }}, 2), regexp_extract({{ text }}, {{ pattern }}, 3)),
        'power', regexp_extract({{ text }}, {{ pattern }}, 4)
    )),
    m -> CASE
        WHEN m.digits = '' THEN NULL
        WHEN trim(BOTH '0' FROM m.digits) = '' THEN '0'
        ELSE concat(
            CASE WHEN m.sign = '-' THEN '-' ELSE '' END, trim(BOTH '0' FROM m.digits), 'e',
            coalesce(try_cast(m.power AS BIGINT), 0) - length(m.part)
                + length(m.digits) - length(trim(TRAILING '0' FROM m.digits))
        )
    END
)[0]
{%- endmacro %}
{% macro changed(text, type) %}
{% if type.startswith(('date', 'time')) %}
coalesce({{ text }} RLIKE '[0-9][.,][0-9]{6}[0-9]*[1-9]', FALSE)
{%- else %}
({{ text }} IS NOT NULL AND CASE
    {% if type in ('double', 'float') %}
    WHEN lower(trim({{ text }})) RLIKE '^[+-]?(inf|infinity|nan)$' THEN FALSE
    {% else %}
    WHEN {{ text }} RLIKE '^[ ]*[+-]?0[0-9]' THEN TRUE
    {% endif %}
    ELSE coalesce(
        {{ canonical('trim(' ~ text ~ ')') }} <> {{ canonical('CAST(try_cast(trim(' ~ text ~ ') AS ' ~ type ~ ') AS STRING)') }}, TRUE)
END)
{%- endif %}
{% endmacro %}
{% if nested %}
coalesce(bool_or(exists(
    regexp_extract_all(to_json({{ text }}), '"(-?[0-9][-+.0-9eE]*)"', 1), t -> {{ changed('t', 'double') }}
)), FALSE)
{% else %}
coalesce(bool_or({{ changed(text, type) }}), FALSE)
{% endif %}
