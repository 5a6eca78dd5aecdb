-- in which columns of texts a date or time is not written as the database writes it; or how many texts are one value, `counted`
{% macro value(text, type, format) %}
{% if format %}CAST(try_strptime({{ text }}, {{ format }}) AS {{ type }}){% else %}TRY_CAST({{ text }} AS {{ type }}){% endif %}
{%- endmacro %}
SELECT
{% for text, type, format in columns %}
{% set read = value(text, type, format) %}
{% if counted %}
    count(DISTINCT {{ text }}) FILTER ({{ read }} IS NOT NULL) > count(DISTINCT {{ read }}){{ '' if loop.last else ',' }}
{% else %}
    coalesce(bool_or({{ text }} <> {% if format %}strftime({{ read }}, {{ format }}){% else %}CAST({{ read }} AS VARCHAR){% endif %}), FALSE){{ '' if loop.last else ',' }}
{% endif %}
{% endfor %}
FROM {{ source }}
