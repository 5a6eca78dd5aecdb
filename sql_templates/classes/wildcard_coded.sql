{# Cells with codes and masks, kept for the session so that what patterns match can be found in several parts. #}
{% import "classes/_wildcard.sql" as wildcard with context %}
WITH {{ wildcard.coded() }}
SELECT * FROM coded
