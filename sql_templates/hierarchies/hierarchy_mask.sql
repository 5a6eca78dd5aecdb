{# The text of a value with its last characters masked, or all but the first ones. #}
{% set text = "CAST(" ~ value ~ " AS VARCHAR)" %}
{% if keeps %}
LEFT({{ text }}, {{ count }}) || REPEAT('*', GREATEST(LENGTH({{ text }}) - {{ count }}, 0))
{% else %}
LEFT({{ text }}, GREATEST(LENGTH({{ text }}) - {{ count }}, 0)) || REPEAT('*', LEAST(LENGTH({{ text }}), {{ count }}))
{% endif %}
