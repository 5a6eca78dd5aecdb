{# The cells of a published table: keys as numbers (0 = missing, -1 = all, where a grouping set says so), and measures as
   they stand. #}
{% import "tabular/_tabular_codes.sql" as codes %}
WITH {{ codes.listed(source, dimensions, measures, flags) }}
{% for dimension in dimensions %}
, {{ codes.dictionary(loop.index0) }}
{% endfor %}
SELECT
{% for dimension in dimensions %}
    {% if flags %}
    CASE WHEN listed.t{{ loop.index0 }} = 1 THEN -1 ELSE COALESCE(dictionary_{{ loop.index0 }}.code, 0) END AS d{{ loop.index0 }}{{ "," if not loop.last or measures }}
    {% else %}
    COALESCE(dictionary_{{ loop.index0 }}.code, 0) AS d{{ loop.index0 }}{{ "," if not loop.last or measures }}
    {% endif %}
{% endfor %}
{% for measure in measures %}
    listed.m{{ loop.index0 }}{{ "," if not loop.last }}
{% endfor %}
FROM listed
{% for dimension in dimensions %}
LEFT JOIN dictionary_{{ loop.index0 }} ON listed.d{{ loop.index0 }} = dictionary_{{ loop.index0 }}.value
{% endfor %}
