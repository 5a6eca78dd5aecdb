{# The rows of a statement that somebody typed; `limit` is what a terminal shows at most, none = all. #}
SELECT *
FROM {{ source }}
{% if limit is not none %}
LIMIT {{ limit }}
{% endif %}
