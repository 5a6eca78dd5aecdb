{# Individual risk of Benedetti and Franconi: the mean of 1/F where F is negative binomial, given f of the class in the
   sample and p = f over the estimated people of the class: the integral of s^(f-1) p / (p + q s) for s from 0 to 1. It
   begins with p/q ln(1/p) at f = 1, and goes up by r(f+1) = p/q (1/f - r(f)). Up to p = 1/2 that loses no digits, and
   serves up to `EXACT`. Beyond, and to begin from above and go down where p is larger, the integral is taken at the nodes
   of Gauss and Laguerre, which are exact to the last digit from f = 13 on. Constants are written as floats: 1.0 / 3 has six
   digits in Spark. #}
{% set EXACT = 12 %}
{% set NODES = [
    (0.1157221173580205, 0.26473137105543654),
    (0.6117574845151308, 0.3777592758731421),
    (1.512610269776419, 0.24408201131987906),
    (2.833751337743507, 0.09044922221168182),
    (4.5992276394183484, 0.020102381154634218),
    (6.844525453115177, 0.0026639735418653335),
    (9.621316842456867, 0.0002032315926630013),
    (13.006054993306348, 8.365055856819926e-06),
    (17.116855187462257, 1.6684938765409212e-07),
    (22.151090379397004, 1.342391030515004e-09),
    (28.487967250984, 3.0616016350351023e-12),
    (37.09912104446692, 8.148077467426094e-16)
] %}

{# Columns that `risk` reads, of a class with the columns f and population: p, odds = p/q, and fall = ln(1/p). #}
{% macro shares(f, population) -%}
CAST({{ f }} AS DOUBLE) / CAST(NULLIF({{ population }}, 0) AS DOUBLE) AS p
{%- endmacro %}

{% macro up(f) -%}
{% if f == 1 %}(p / (1 - p)) * LN(1 / p){% else %}(p / (1 - p)) * ({{ "%.17e" | format(1 / (f - 1)) }} - {{ up(f - 1) }}){% endif %}
{%- endmacro %}

{% macro integral(f) -%}
({% for x, w in NODES %}{{ " + " if not loop.first }}{{ "%.17e" | format(w) }} * p / (p + (1 - p) * EXP(-{{ "%.17e" | format(x) }} / ({{ f }}))){% endfor %}) / ({{ f }})
{%- endmacro %}

{% macro down(f, step) -%}
{% if step == EXACT %}{{ integral(f ~ " + " ~ EXACT) }}{% else %}(CAST(1 AS DOUBLE) / ({{ f }} + {{ step }}) - (1 - p) / p * {{ down(f, step + 1) }}){% endif %}
{%- endmacro %}

{% macro risk(f, population) -%}
CASE
            WHEN {{ population }} <= {{ f }} THEN CAST(1 AS DOUBLE) / {{ f }}
            WHEN p > 0.5 THEN {{ down(f, 0) }}
{% for size in range(1, EXACT + 1) %}
            WHEN {{ f }} = {{ size }} THEN {{ up(size) }}
{% endfor %}
            ELSE {{ integral(f) }}
        END
{%- endmacro %}
