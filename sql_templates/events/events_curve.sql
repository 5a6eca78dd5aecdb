{# Persons whom so many known events expose, and single out. #}
SELECT COUNT(*) FILTER (WHERE exposed <= {{ size }}) AS exposed, COUNT(*) FILTER (WHERE singled_out <= {{ size }}) AS singled_out
FROM {{ state }}
