{# The values of a bucketized release: how often each occurs in a bucket, and nothing of who has it. #}
SELECT *
FROM (
    SELECT {{ bucket }}, {{ values | join(", ") }}, CAST(COUNT(*) AS BIGINT) AS {{ count }}
    FROM (
        SELECT DENSE_RANK() OVER (ORDER BY {{ keys | join(", ") }}) AS {{ bucket }}, {{ values | join(", ") }}
        FROM {{ source }} AS released
    ) AS numbered
    GROUP BY {{ bucket }}, {{ values | join(", ") }}
) AS counted
ORDER BY {{ bucket }}{% for value in values %}, CAST({{ value }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }} NULLS LAST{% endfor %}
