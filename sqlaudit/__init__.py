"""sqlaudit: how easily can the people in a table be re-identified? Asked inside the database."""

__version__ = "0.1.0"
