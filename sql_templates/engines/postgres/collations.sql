{# Whether the collation of each column finds texts equal that are written differently. No row of the target is read. #}
SELECT
{% for column in columns %}
    COALESCE(
        (
            SELECT NOT collisdeterministic
            FROM pg_collation
            WHERE pg_collation.oid = pg_collation_for(target.{{ column }})::REGCOLLATION
        ),
        FALSE
    ){{ "" if loop.last else "," }}
{% endfor %}
FROM (SELECT 1) AS one
LEFT JOIN (
    {{ select }}
) AS target ON FALSE
