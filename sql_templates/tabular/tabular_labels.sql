{# The values of the dimensions as text, for some codes: only when somebody asked to see them. #}
{% import "tabular/_tabular_codes.sql" as codes %}
WITH {{ codes.listed(source, dimensions, [], []) }}
{% for dimension in dimensions %}
, {{ codes.dictionary(loop.index0) }}
{% endfor %}
{% for wanted in shown %}
{{ "UNION ALL" if not loop.first }}
SELECT {{ loop.index0 }} AS dimension, code, CAST(value AS VARCHAR) AS label
FROM dictionary_{{ loop.index0 }}
{% if wanted %}
WHERE code IN ({{ wanted | join(", ") }})
{% endif %}
{% endfor %}
