{# Of the sets of one size: the smallest number of persons, the minimal sets below k, those of more than
   four persons among them, and the sets that several persons share. #}
SELECT
    COUNT(*) AS total,
    MIN(persons) AS smallest,
    COUNT(*) FILTER (WHERE persons < {{ k }} AND least_part >= {{ k }}) AS minimal,
    COUNT(*) FILTER (WHERE {{ "holders" if near else "persons" }} > 4 AND persons < {{ k }}) AS unnamed,
    COUNT(*) FILTER (WHERE persons >= 2) AS shared
FROM {{ sets }}
