-- which columns of a text file have a number that is not written as its type writes it
SELECT
{% for text, type in columns %}
    coalesce(bool_or(CAST(TRY_CAST({{ text }} AS {{ type }}) AS VARCHAR) <> {{ text }}), FALSE){{ ',' if not loop.last }}
{% endfor %}
FROM {{ source }}
