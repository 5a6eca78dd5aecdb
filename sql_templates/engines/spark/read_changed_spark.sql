{# As `read_changed.sql`, in Spark's own SQL: the places of the columns that have a changed value. Columns become rows
   first, since Spark plans and compiles an expression for each column that it stands for: (place, kind, the texts of
   a value, what the type makes of it). Texts of which several are one date or time are changed, too. Texts that the type gives back letter by letter need no second look. #}
{% set pattern = "'^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,9}))?$'" %}
{% macro canonical(letter) %}
CASE
    WHEN {{ letter }}.digits = '' THEN NULL
    WHEN trim(BOTH '0' FROM {{ letter }}.digits) = '' THEN '0'
    ELSE concat(
        CASE WHEN {{ letter }}.sign = '-' THEN '-' ELSE '' END, trim(BOTH '0' FROM {{ letter }}.digits), 'e',
        coalesce(try_cast({{ letter }}.power AS BIGINT), 0) - length({{ letter }}.part)
            + length({{ letter }}.digits) - length(trim(TRAILING '0' FROM {{ letter }}.digits))
    )
END
{%- endmacro %}
{% macro parts(text) %}
named_struct(
    'sign', regexp_extract({{ text }}, {{ pattern }}, 1),
    'part', regexp_extract({{ text }}, {{ pattern }}, 3),
    'digits', concat(regexp_extract({{ text }}, {{ pattern }}, 2), regexp_extract({{ text }}, {{ pattern }}, 3)),
    'power', regexp_extract({{ text }}, {{ pattern }}, 4)
)
{%- endmacro %}
WITH `values` AS (
    SELECT stack(
        {{ columns | length }}
        {% for text, type, kind in columns %}
        {% if kind == 'nested' %}
        , {{ loop.index0 }}, '{{ kind }}', regexp_extract_all(to_json({{ text }}), '"(-?[0-9][-+.0-9eE]*)"', 1), CAST(NULL AS STRING)
        {% else %}
        , {{ loop.index0 }}, '{{ kind }}', array(trim({{ text }})), CAST(try_cast(trim({{ text }}) AS {{ type }}) AS STRING)
        {% endif %}
        {% endfor %}
    ) AS (place, kind, texts, typed)
    FROM {{ source }}
),
texts AS (
    SELECT place, kind, text, CASE WHEN kind = 'nested' THEN CAST(try_cast(text AS DOUBLE) AS STRING) ELSE typed END AS typed
    FROM `values` LATERAL VIEW explode(texts) AS text
),
differing AS (
    SELECT place, kind, text, {{ parts('text') }} AS t, {{ parts('typed') }} AS v
    FROM texts
    WHERE text IS NOT NULL AND NOT text <=> typed
),
compared AS (
    SELECT
        place,
        CASE
            WHEN kind = 'time' THEN text RLIKE '[0-9][.,][0-9]{6}[0-9]*[1-9]'
            WHEN kind = 'whole' AND text RLIKE '^[+-]?0[0-9]' THEN TRUE
            WHEN kind <> 'whole' AND lower(text) RLIKE '^[+-]?(inf|infinity|nan)$' THEN FALSE
            ELSE coalesce({{ canonical('t') }} <> {{ canonical('v') }}, TRUE)
        END AS is_changed
    FROM differing
)
SELECT collect_set(place) AS places
FROM (
    SELECT place FROM compared WHERE is_changed
    UNION ALL
    SELECT place FROM texts WHERE kind = 'time' AND typed IS NOT NULL GROUP BY place, typed HAVING min(text) <> max(text)
) AS found
