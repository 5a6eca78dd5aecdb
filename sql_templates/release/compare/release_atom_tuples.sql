{# The tuples of the original as tuples of atoms: `a` numbers these. #}
SELECT
    tuples.key, tuples.n,
    {% for atoms in all_atoms %}
    atoms_{{ loop.index }}.atom AS a{{ loop.index }},
    {% endfor %}
    DENSE_RANK() OVER (ORDER BY {% for atoms in all_atoms %}atoms_{{ loop.index }}.atom{{ ", " if not loop.last }}{% endfor %}) AS a
FROM {{ tuples }} AS tuples
{% for atoms in all_atoms %}
JOIN {{ atoms }} AS atoms_{{ loop.index }} ON tuples.v{{ loop.index }} = atoms_{{ loop.index }}.word
{% endfor %}
