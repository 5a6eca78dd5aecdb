{# The interval of a number: `[20, 25)`, or an open end. A float is the decimal that it prints as, with twenty decimals.
   What is no number, or too large for exact decimals, has none.
   value; kind; scale: decimals of exact numbers; plain: whole numbers between bounds need no wider type; nan: whether
   the type knows NaN; width, origin, low, high: numbers as text, the last two may be none; cut_low, cut_high: whether
   they lie inside an interval; upward: no number lies below the origin; decimals: of labels; limit: a text. #}
{% set number %}
{% if plain %}{{ value }}{% elif kind == "float" %}{{ "CAST" if dialect == "postgres" else "TRY_CAST" }}(CAST({{ value }} AS VARCHAR) AS DECIMAL(38, {{ scale }})){% elif dialect == "duckdb" %}TRY_CAST({{ value }} AS DECIMAL(38, {{ scale }})){% else %}({{ value }} + 0.0){% endif %}
{% endset %}
{% set number = number | trim %}
{% set from_origin = number if origin == "0" else "(" ~ number ~ " - " ~ origin ~ ")" %}
{% set rest = from_origin ~ " % " ~ width if upward else "(" ~ from_origin ~ " % " ~ width ~ " + " ~ width ~ ") % " ~ width %}
{% set start = number ~ " - " ~ rest %}
{% set first = "GREATEST(" ~ start ~ ", " ~ low ~ ")" if cut_low else start %}
{% set last = "LEAST(" ~ start ~ " + " ~ width ~ ", " ~ high ~ ")" if cut_high else start ~ " + " ~ width %}
{% macro text(bound) %}CAST({{ bound if plain else "CAST(" ~ bound ~ " AS DECIMAL(38, " ~ decimals ~ "))" }} AS VARCHAR){% endmacro %}
CASE
{% if nan %}
    WHEN {{ value }} = CAST('NaN' AS {{ "DOUBLE" if kind == "float" else "DECIMAL" }}) THEN NULL
{% endif %}
{% if kind == "float" %}
    WHEN {{ value }} >= {{ limit }} THEN {{ "'>=" ~ high ~ "'" if high is not none else "NULL" }}
    WHEN {{ value }} <= -{{ limit }} THEN {{ "'<" ~ low ~ "'" if low is not none else "NULL" }}
{% endif %}
{% if low is not none %}
    WHEN {{ number if kind == "float" else value }} < {{ low }} THEN '<{{ low }}'
{% endif %}
{% if high is not none %}
    WHEN {{ number if kind == "float" else value }} >= {{ high }} THEN '>={{ high }}'
{% endif %}
    WHEN {{ value ~ " IS NOT NULL" if low is not none and high is not none else value ~ " > -" ~ limit ~ " AND " ~ value ~ " < " ~ limit }}
    THEN '[' || {{ text(first) }} || ', ' || {{ text(last) }} || ')'
END
