{% from 'engines/duckdb/_json.sql' import numbers_as_texts %}
(SELECT /* as written */
{% for key, how, type, name in columns %}
{% set comma = ',' if folders or not loop.last else '' %}
{% if how == 'simple' %}
    CAST(json_extract_string({{ numbers_as_texts('json') }}, {{ key }}) AS {{ type }}) AS {{ name }}{{ comma }}
{% elif how == 'nested' %}
    CAST(json_extract(json, {{ key }}) AS {{ type }}) AS {{ name }}{{ comma }}
{% else %}
    CAST(json_extract({{ numbers_as_texts('json', 'number:') }}, {{ key }}) AS {{ type }}) AS {{ name }}{{ comma }}
{% endif %}
{% endfor %}
{% for name in folders %}
    {{ name }}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }})
