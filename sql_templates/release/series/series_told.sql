{# What is left for the persons of each path after some rounds, from what the round before left (kept) or from the releases. #}
{% import "release/series/_series.sql" as parts with context %}
{% if kept %}
WITH told{{ rounds - 1 }} AS NOT MATERIALIZED (
    SELECT *
    FROM {{ kept }} AS kept
),
{{ parts.round(rounds) }}
{% else %}
WITH {{ parts.start(releases) }}
{% endif %}
SELECT *
FROM told{{ rounds }}
