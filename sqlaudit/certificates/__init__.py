"""Certificates of audits: data on the request, the table and the result, which a second audit can verify."""
