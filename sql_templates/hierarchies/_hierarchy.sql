{# The key of a value: its text in the one spelling that files are matched by (`key_of` in Python). Floats have no
   portable text; they are matched as numbers. #}
{% macro key(value, kind) -%}
{% set text = "CAST(" ~ value ~ " AS VARCHAR)" %}
{% if kind == "boolean" %}LOWER({{ text }}){% elif kind == "decimal" %}CASE WHEN POSITION('.' IN {{ text }}) > 0 THEN RTRIM(RTRIM({{ text }}, '0'), '.') ELSE {{ text }} END{% else %}{{ text }}{% endif %}
{%- endmacro %}

{# True when a value has a key; as published, where no one knows how a session shows dates. #}
{% macro has_key(value, key_column, kind) -%}
{% if kind == "float" %}CAST(CAST({{ value }} AS VARCHAR) AS DOUBLE PRECISION) = CAST({{ key_column }} AS DOUBLE PRECISION)
{%- elif kind == "date" %}{{ value }} = CAST({{ key_column }} AS DATE)
{%- elif kind == "timestamp" %}{{ value }} = CAST({{ key_column }} AS TIMESTAMP)
{%- else %}{{ key(value, kind) }} = {{ key_column }}{% endif %}
{%- endmacro %}

{# What values are numbered by: their own order, texts by code point. #}
{% macro order_of(value, kind) -%}
{% if kind in ("text", "other") %}CAST({{ value }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }}{% else %}{{ value }}{% endif %}
{%- endmacro %}
