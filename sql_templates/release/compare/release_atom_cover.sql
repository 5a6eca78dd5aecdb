{# Which atoms each cell stands for. #}
SELECT DISTINCT cover.cell, atoms.atom
FROM {{ cover }} AS cover
JOIN {{ atoms }} AS atoms ON cover.word = atoms.word
