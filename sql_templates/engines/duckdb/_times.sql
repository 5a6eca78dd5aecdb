{# Dates and times of text files: what a text is read as, and whether the database would write that in another way. #}
{% macro value(text, type, format) %}
{% if format %}CAST(try_strptime({{ text }}, {{ format }}) AS {{ type }}){% else %}TRY_CAST({{ text }} AS {{ type }}){% endif %}
{%- endmacro %}
{% macro written_otherwise(text, type, format) %}
coalesce(bool_or({{ text }} <> {% if format %}strftime({{ value(text, type, format) }}, {{ format }}){% else %}CAST({{ value(text, type, format) }} AS VARCHAR){% endif %}), FALSE)
{%- endmacro %}
