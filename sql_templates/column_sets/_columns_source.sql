{# The rows of a column-set question under short names: c0, c1, … the columns, e the entity,
   v0, v1, … what is kept as it is. Where codes are kept
   (`coded`), NULL has the code 0. #}
{% macro rows(columns, entity, kept=()) %}
SELECT
{% for column in kept %}
    {{ column }} AS v{{ loop.index0 }},
{% endfor %}
{% for column in columns %}
    {{ column }} AS c{{ loop.index0 }}{{ "," if not loop.last or entity is not none }}
{% endfor %}
{% if entity is not none %}
    {{ entity }} AS e
{% endif %}
{%- endmacro %}

{# The rows as `people`, for a statement that reads them several times; nothing where they are kept (no columns). #}
{% macro people(columns, entity, source) %}
{% if columns is not none %}
WITH people AS {{ "MATERIALIZED " if dialect == "postgres" }}(
    {{ rows(columns, entity) }}
    FROM {{ source }}
)
{% endif %}
{%- endmacro %}

{% macro is_null(name, coded) -%}
{{ name }}{{ " = 0" if coded else " IS NULL" }}
{%- endmacro %}

{# True for a row that is a class of its own because one of these columns is missing. #}
{% macro solo(nullable, coded) -%}
{% for name in nullable %}{{ is_null(name, coded) }}{{ " OR " if not loop.last }}{% endfor %}
{%- endmacro %}

{# Codes of some columns as one number; in BIGINT, where no product overflows. #}
{% macro packed(key) -%}
{% for name, factor in key %}{% if factor == 1 %}{{ name }}{% else %}CAST({{ name }} AS BIGINT) * {{ factor }}{% endif %}{{ " + " if not loop.last }}{% endfor %}
{%- endmacro %}

{# A list of keys; each key packs the codes of some columns into one number (name, factor). #}
{% macro keys(set) -%}
{% for key in set.packed %}{{ packed(key) }}{{ ", " if not loop.last }}{% endfor %}
{%- endmacro %}
