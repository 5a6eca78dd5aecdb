"""The risk of single records: minimal sample uniques, SUDA scores, individual risk."""
