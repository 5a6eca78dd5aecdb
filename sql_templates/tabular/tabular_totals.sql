{# Which values of the dimensions read like a total: those that somebody named, else the usual words. #}
{% import "tabular/_tabular_codes.sql" as codes %}
WITH {{ codes.listed(source, dimensions, [], []) }}
{% for dimension in dimensions %}
, {{ codes.dictionary(loop.index0) }}
{% endfor %}
{% for name in named %}
{{ "UNION ALL" if not loop.first }}
SELECT {{ loop.index0 }} AS dimension, code
FROM dictionary_{{ loop.index0 }}
{% if name %}
WHERE CAST(value AS VARCHAR) = {{ name }}
{% else %}
WHERE {{ codes.reads_like_total("value") }}
{% endif %}
{% endfor %}
