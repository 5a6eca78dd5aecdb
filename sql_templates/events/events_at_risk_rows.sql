{# The persons most at risk, in this order. #}
SELECT person, events, exposed, singled_out FROM {{ at_risk }} ORDER BY singled_out NULLS LAST, exposed, events, person
