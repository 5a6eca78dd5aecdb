{# Cells of the grid that locations are cloaked in. A place in the grid is three whole numbers ix, iy, it at its finest
   level; the cell around it at a coarser level is the same numbers without their last binary digits. #}
{% macro cell(level) %}ix >> {{ level.space }}, iy >> {{ level.space }}, it >> {{ level.time }}{% endmacro %}

{# Which cell of that width a number lies in: cells begin at whole multiples of the width, and the upper end belongs to the
   next. Widths are binary fractions, so that the beginnings are exact and dividing never rounds a number over one of them.
   Next to zero, where dividing could lose the sign, it is not divided. NULL beyond the limit, and for NaN. #}
{% macro cell_of(value, kind, width, limit) %}
{% set number = as_double(value, kind) %}
{% set compared = value if dialect == "postgres" else number %}
CASE
{% if kind != "integer" %}
    WHEN {{ compared }} > -0.000000001 AND {{ compared }} < 0 THEN -1
    WHEN {{ compared }} >= 0 AND {{ compared }} < 0.000000001 THEN 0
{% endif %}
    WHEN {{ compared }} >= -{{ limit }} AND {{ compared }} <= {{ limit }}
    THEN CAST(FLOOR({{ number }} / CAST({{ width }} AS DOUBLE)) AS BIGINT)
END
{%- endmacro %}

{# A decimal is read as it prints, on every engine alike. #}
{% macro as_double(value, kind) -%}
{% if kind == "decimal" and dialect == "duckdb" %}CAST(CAST({{ value }} AS VARCHAR) AS DOUBLE){% else %}CAST({{ value }} AS DOUBLE){% endif %}
{%- endmacro %}

{# A time as microseconds since 1970 (UTC), NULL outside the years 1 to 9999. DuckDB's timestamps of nanoseconds end in 2262
   and cannot be compared with these years. #}
{% macro microseconds(value) %}
{% set moment = "CAST(" ~ value ~ " AS TIMESTAMP)" if dialect == "duckdb" else value %}
CASE
    WHEN {{ moment }} >= CAST('0001-01-01 00:00:00' AS TIMESTAMP) AND {{ moment }} <= CAST('9999-12-31 23:59:59' AS TIMESTAMP)
    {% if dialect == "duckdb" %}
    THEN EPOCH_US({{ moment }})
    {% elif dialect == "spark" %}
    THEN UNIX_MICROS(CAST({{ value }} AS TIMESTAMPTZ))
    {% else %}
    THEN CAST(EXTRACT(EPOCH FROM {{ value }}) * 1000000 AS BIGINT)
    {% endif %}
END
{%- endmacro %}

{# And back. #}
{% macro timestamp_of(microseconds) -%}
{% if dialect == "duckdb" %}MAKE_TIMESTAMP({{ microseconds }}){% elif dialect == "spark" %}CAST(TIMESTAMP_MICROS({{ microseconds }}) AS TIMESTAMP_NTZ){% else %}CAST('1970-01-01 00:00:00' AS TIMESTAMP) + CAST({{ microseconds }} // 86400000000 AS BIGINT) * INTERVAL '1' DAY + ({{ microseconds }} % 86400000000) * INTERVAL '1' MICROSECOND{% endif %}
{%- endmacro %}

{# Whole numbers divided and rounded down, also below zero. #}
{% macro floor_div(value, width) -%}
CAST(({{ value }} - (({{ value }} % {{ width }}) + {{ width }}) % {{ width }}) // {{ width }} AS BIGINT)
{%- endmacro %}

{# Into how many cells of the largest width a band of latitude is divided around the globe: the cosine is taken at the
   edge nearest to the equator and, as the sum of its first terms, never too small, so no cell is too wide. #}
{% macro parts_of(band) %}
{% set edge = "(CASE WHEN " ~ band ~ " >= 0 THEN " ~ band ~ " ELSE -1 - " ~ band ~ " END * CAST(" ~ globe.angle ~ " AS DOUBLE))" %}
{% set square = "(" ~ edge ~ " * " ~ edge ~ ")" %}
GREATEST(1, CAST(CEIL(CAST({{ globe.around }} AS DOUBLE) * (1 - {{ square }} / 2 * (1 - {{ square }} / 12 * (1 - {{ square }} / 30 * (1 - {{ square }} / 56))))) AS BIGINT))
{%- endmacro %}
