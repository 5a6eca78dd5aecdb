CAST({{ column }} AS {{ type }})
