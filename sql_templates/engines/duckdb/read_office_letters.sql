-- numbers of Stata and SAS without the letters for missing values, which are in columns of their own
SELECT
    * REPLACE (
{% for column, base, _, _ in columns %}
        CASE WHEN {{ column }} > -{{ base }} THEN {{ column }} END AS {{ column }}{{ '' if loop.last else ',' }}
{% endfor %}
    ),
{% for column, base, step, letter in columns %}
    CASE WHEN {{ column }} <= -{{ base }}
        THEN '.' || chr(CAST(round((-{{ column }} - {{ base }}) / {{ step }}) AS INTEGER)) END AS {{ letter }}{{ '' if loop.last else ',' }}
{% endfor %}
FROM {{ source }}
