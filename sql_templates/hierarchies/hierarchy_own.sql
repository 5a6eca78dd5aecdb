{# A level that users wrote themselves. #}
CAST({{ value }} AS VARCHAR)
