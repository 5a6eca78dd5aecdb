{# A uniform sample of equivalence classes with exact figures: all rows of those classes whose hash lies below a
   threshold, grouped by the quasi-identifiers themselves, so that a collision of hashes changes nothing. #}
WITH chosen AS NOT MATERIALIZED (
    SELECT {{ columns | join(", ") }}, s, hash(hash({{ columns | join(", ") }}, {{ seed }})) AS hashed
    FROM {{ source }}
    WHERE hash(hash({{ columns | join(", ") }}, {{ seed }})) < {{ threshold }}
),
cells AS NOT MATERIALIZED (
    SELECT {{ columns | join(", ") }}, hashed, s, COUNT(*) AS c
    FROM chosen
    GROUP BY {{ columns | join(", ") }}, hashed, s
),
classes AS NOT MATERIALIZED (
    SELECT hashed, SUM(c) AS n, COUNT(s) AS l
    FROM cells
    GROUP BY {{ columns | join(", ") }}, hashed
)
SELECT
    COUNT(*) AS sampled,
    COUNT(*) FILTER (WHERE n < {{ k }}) AS small,
    COUNT(*) FILTER (WHERE l < {{ l }}) AS uniform,
    CAST(MIN(n) AS BIGINT) AS smallest,
    MAX(hashed) AS largest_hash
FROM classes
