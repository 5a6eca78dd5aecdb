{# Row patterns: the combinations of quasi-identifiers (and of what else keeps rows apart) that occur, numbered in their
   own order, NULL last and texts by code point, so that the same table gives the same numbers everywhere. `given` has q1,
   q2, … the keys, then v1, v2, … the other columns. On Spark `many` patterns are numbered in parts (_numbers.sql). #}
{% import "base/_numbers.sql" as numbers with context %}
{% macro key(position) -%}
q{{ position }}{{ ' COLLATE "C"' if dialect == "postgres" and collated[position - 1] }}
{%- endmacro %}

{% macro patterns() %}
given AS NOT MATERIALIZED (
    SELECT
    {% for key in keys %}
        {{ key }} AS q{{ loop.index }}{{ "," if not loop.last or others }}
    {% endfor %}
    {% for other in others %}
        {{ other }} AS v{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
    FROM {{ source }}
),
{% if dialect == "spark" and many %}
counted AS (
    SELECT
    {% for _ in keys %}
        q{{ loop.index }},
    {% endfor %}
        COUNT(*) AS size,
        STRUCT({% for _ in keys %}q{{ loop.index }} IS NULL, q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}) AS value
    FROM given
    GROUP BY {% for _ in keys %}q{{ loop.index }}{{ ", " if not loop.last }}{% endfor %}

),
{{ numbers.dictionary("ordered", "SELECT value FROM counted", true) }},
patterns AS (
    SELECT counted.*, ordered.code AS class_number
    FROM counted
    JOIN ordered ON counted.value = ordered.value
),
{% for _ in keys %}
{{ numbers.dictionary("ranks_" ~ loop.index, "SELECT DISTINCT q" ~ loop.index ~ " AS value FROM counted WHERE q" ~ loop.index ~ " IS NOT NULL", true) }},
{% endfor %}
coded AS (
    SELECT
        CAST(class_number AS BIGINT) AS class_number,
        size
    {% for _ in keys %}
        , CAST(COALESCE(ranks_{{ loop.index }}.code, 0) AS BIGINT) AS c{{ loop.index }}
    {% endfor %}
    FROM patterns
    {% for _ in keys %}
    LEFT JOIN ranks_{{ loop.index }} ON patterns.q{{ loop.index }} = ranks_{{ loop.index }}.value
    {% endfor %}
)
{% else %}
patterns AS (
    SELECT
    {% for _ in keys %}
        {{ key(loop.index) }} AS q{{ loop.index }},
    {% endfor %}
        CAST(COUNT(*) AS BIGINT) AS size,
        CAST(ROW_NUMBER() OVER (ORDER BY {% for _ in keys %}{{ key(loop.index) }} NULLS LAST{{ ", " if not loop.last }}{% endfor %}) AS BIGINT) AS class_number
    FROM given
    GROUP BY {% for _ in keys %}{{ key(loop.index) }}{{ ", " if not loop.last }}{% endfor %}

),
coded AS (
    SELECT
        class_number,
        size
    {% for _ in keys %}
        , CAST(CASE WHEN q{{ loop.index }} IS NULL THEN 0 ELSE DENSE_RANK() OVER (ORDER BY {{ key(loop.index) }} NULLS LAST) END AS BIGINT) AS c{{ loop.index }}
    {% endfor %}
    FROM patterns
)
{%- endif %}
{%- endmacro %}

{# What copies of one pattern are put in order by when they part: a hash of the whole row with a secret number, so that
   which of them go where says nothing of what else is known of them. #}
{% macro drawn(salt) -%}
MD5('{{ salt }}'{% for _ in others %} || CASE WHEN v{{ loop.index }} IS NULL THEN '-' ELSE CAST(LENGTH(CAST(v{{ loop.index }} AS VARCHAR)) AS VARCHAR) || ':' || CAST(v{{ loop.index }} AS VARCHAR) END{% endfor %})
{%- endmacro %}
