{# Who has which event, by number. #}
SELECT person, event FROM {{ fits }} WHERE has
