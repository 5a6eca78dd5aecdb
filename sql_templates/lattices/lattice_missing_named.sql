{# How many columns of the lattice have missing values and a label for them below their top.
   dictionaries: [(relation, levels)], each relation with key (NULL for a missing value) and the labels l1, l2, ... #}
SELECT COUNT(*) AS named
FROM (
{%- for source, levels in dictionaries %}
    {{ "UNION ALL" if not loop.first }}
    SELECT 1 AS one
    FROM {{ source }} AS dictionary
    WHERE dictionary.key IS NULL
      AND ({% for level in levels %}dictionary.l{{ level }} IS NOT NULL{{ " OR " if not loop.last }}{% endfor %})
{%- endfor %}
) AS columns_that_name_them
