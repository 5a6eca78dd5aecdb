{# Which values are numbers of people by their form and check digit (`sqlaudit/profiles/forms.txt`), in steps that each
   read the one before: `code` is a value in one spelling, `form` the first form that it fits, `weighed` its characters as
   they count. PostgreSQL would put the whole expression in each place where a character is asked for. #}
{% macro steps(forms) %}
{% set kept = "MATERIALIZED " if dialect == "postgres" else "" %}
formed AS {{ kept }}(
    SELECT
        *,
        CASE {% for form in forms %}WHEN REGEXP_MATCHES(code, '^({{ form.pattern }})$') THEN {{ loop.index0 }} {% endfor %}END AS form
    FROM shaped
),
weighed AS {{ kept }}(
    SELECT
        *,
        CASE form {% for form in forms if form.check %}WHEN {{ form.place }} THEN {{ _weighed(form) }} {% endfor %}END AS weighed,
        CASE form {% for form in forms if form.weights %}WHEN {{ form.place }} THEN '{{ form.weights.ljust(forms | map(attribute="length") | max, "0") }}' {% endfor %}END AS weights
    FROM formed
),
checked AS (
    SELECT
        *,
        CASE form
        {% for form in forms %}
            WHEN {{ form.place }} THEN {% if form.check == "mod97" %}CASE WHEN ({{ _parts() }}) % 97 = 1 THEN '{{ form.name }}' END
            {% elif form.check == "luhn" %}CASE WHEN ({{ _luhn() }}) % 10 = 0 THEN '{{ form.name }}' END
            {% elif form.check %}CASE WHEN weighted % {{ form.check }} = 0 THEN '{{ form.name }}' END
            {% else %}'{{ form.name }}'
            {% endif %}
        {% endfor %}
        END AS of_people
    FROM (SELECT *, CASE WHEN weights IS NOT NULL THEN {{ _weighted(forms) }} END AS weighted FROM weighed) AS summed
)
{%- endmacro %}

{# The characters that are weighed: for mod 97 the country last and letters as two digits, else filled with zeros. #}
{% macro _weighed(form) -%}
{% if form.check == "mod97" %}
LPAD({% for _ in form.alphabet %}REPLACE({% endfor %}SUBSTR(code, 5) || SUBSTR(code, 1, 4){% for letter in form.alphabet %}, '{{ letter }}', '{{ loop.index0 + 10 }}'){% endfor %}, 72, '0')
{%- elif form.check == "luhn" %}
LPAD(code, 20, '0')
{%- elif form.letters %}
TRANSLATE(code, '{{ form.letters }}', '{{ form.counted }}')
{%- else %}
LPAD(code, {{ form.length }}, '0')
{%- endif %}
{%- endmacro %}

{# A number of 72 digits, eighteen at a time, as its remainder by 97. #}
{% macro _parts() -%}
{% for part in range(4) %}CAST(SUBSTR(weighed, {{ 18 * part + 1 }}, 18) AS BIGINT) % 97 * {{ 10 ** (18 * (3 - part)) % 97 }}{{ " + " if not loop.last }}{% endfor %}
{%- endmacro %}

{# Twenty digits, every second doubled; a sum of ASCII codes, whose 20 × 48 change no remainder by ten. #}
{% macro _luhn() -%}
{% for place in range(1, 21) %}ASCII({% if place % 2 %}TRANSLATE(SUBSTR(weighed, {{ place }}, 1), '0123456789', '0246813579'){% else %}SUBSTR(weighed, {{ place }}, 1){% endif %}){{ " + " if not loop.last }}{% endfor %}
{%- endmacro %}

{% macro _weighted(forms) -%}
{% for place in range(1, forms | map(attribute="length") | max + 1) %}(ASCII(SUBSTR(weighed, {{ place }}, 1)) - 48) * (ASCII(SUBSTR(weights, {{ place }}, 1)) - 48){{ " + " if not loop.last }}{% endfor %}
{%- endmacro %}
