{# How the rows spread over the values of each column, in the original (side 0) and in the release (side 1): the rows of the most
   frequent values by rank, and under rank 0 those of all others together. Values of fewer than `least` rows are among the others,
   and so is the last one where the others alone are fewer. Sources: a relation with its column of rows. #}
{% for source in sources %}
SELECT {{ source.place }} AS place, {{ source.side }} AS side, rank, CAST(SUM(n) AS BIGINT) AS n, COUNT(*) AS value_total
FROM (
    SELECT n, CASE WHEN n >= {{ least }} AND rank <= {{ most }} AND (following = 0 OR following >= {{ least }}) THEN rank ELSE 0 END AS rank
    FROM (
        SELECT
            n,
            ROW_NUMBER() OVER (ORDER BY n DESC) AS rank,
            SUM(n) OVER () - SUM(n) OVER (ORDER BY n DESC ROWS UNBOUNDED PRECEDING) AS following
        FROM (SELECT {{ source.rows }} AS n FROM {{ source.relation }} WHERE {{ source.rows }} > 0) AS counted
    ) AS ranked
) AS binned
GROUP BY rank
{{ "UNION ALL" if not loop.last }}
{% endfor %}
