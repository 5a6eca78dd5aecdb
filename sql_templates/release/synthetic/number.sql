{# A number, NULL for what is no number. #}
NULLIF({{ column }}, CAST('NaN' AS DOUBLE))
