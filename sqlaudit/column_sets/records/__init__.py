"""How special single records are: minimal sample uniques, SUDA scores, individual risk."""
