{# A date or time cut to a part. The years 1 to 9999 have labels, infinity and what lies outside have none.
   Days of moments with a zone are those of UTC, whatever the zone of the session that reads a view. #}
{% set value = "(" ~ value ~ " AT TIME ZONE 'UTC')" if zoned else value %}
{% macro part(name) %}CAST(EXTRACT({{ name }} FROM {{ value }}) AS INTEGER){% endmacro %}
{% macro digits(number, width) %}LPAD(CAST({{ number }} AS VARCHAR), {{ width }}, '0'){% endmacro %}
{% set year = part("YEAR") %}
{% macro years(span) %}{{ digits(year ~ " - " ~ year ~ " % " ~ span, 4) }} || '-' || {{ digits(year ~ " - " ~ year ~ " % " ~ span ~ " + " ~ (span - 1), 4) }}{% endmacro %}
CASE
    WHEN {{ value }} >= CAST('0001-01-01' AS DATE) AND {{ value }} < CAST('10000-01-01' AS DATE) THEN
    {% if cut == "day" %}
        {{ digits(year, 4) }} || '-' || {{ digits(part("MONTH"), 2) }} || '-' || {{ digits(part("DAY"), 2) }}
    {% elif cut == "month" %}
        {{ digits(year, 4) }} || '-' || {{ digits(part("MONTH"), 2) }}
    {% elif cut == "quarter" %}
        {{ digits(year, 4) }} || '-Q' || CAST({{ part("QUARTER") }} AS VARCHAR)
    {% elif cut == "year" %}
        {{ digits(year, 4) }}
    {% else %}
        {{ years(span) }}
    {% endif %}
END
