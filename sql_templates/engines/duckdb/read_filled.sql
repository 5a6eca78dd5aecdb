(SELECT /* as written */ *
FROM {{ source }}
WHERE list_contains([{% for column in columns %}{{ column }} IS NOT NULL{{ ', ' if not loop.last }}{% endfor %}], TRUE))
