{# A label, or the default for a value that has none. #}
COALESCE({{ label }}, CASE WHEN {{ value }} IS NOT NULL THEN {{ default }} END)
