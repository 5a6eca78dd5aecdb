{# Events by number, each with its column codes; where they match when they are near, by their number there. #}
{% if near %}
SELECT near.event, names.* EXCLUDE (event) FROM {{ dictionary }} AS near JOIN {{ plain }} AS names ON names.event = near.known
{% else %}
SELECT * FROM {{ dictionary }}
{% endif %}
