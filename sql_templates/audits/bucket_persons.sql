{# The persons of a bucketized release with the number of their bucket, which is their class. Rows come in the order of what
   is published, so that their order says nothing of the values. #}
SELECT *
FROM (
    SELECT
        DENSE_RANK() OVER (ORDER BY {{ keys | join(", ") }}) AS {{ bucket }}{% for column in columns %},
        {{ column.from }} AS {{ column.name }}{% endfor %}

    FROM {{ source }} AS released
) AS persons
ORDER BY {{ bucket }}{% for column in columns %}, CAST({{ column.name }} AS VARCHAR){{ ' COLLATE "C"' if dialect == "postgres" }} NULLS LAST{% endfor %}
