{# A number as a whole multiple of its last decimal place. #}
CAST(CAST({{ value }} AS DECIMAL(28, {{ places }})) * {{ 10 ** places }} AS {{ whole }})
