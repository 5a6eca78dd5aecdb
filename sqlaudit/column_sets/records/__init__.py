"""How special single records are: minimal sample uniques, SUDA scores, individual risk."""

from sqlaudit.column_sets.records.request import RecordRequest
from sqlaudit.column_sets.records.result import IndividualRisk, RecordRisk, TopRecord
from sqlaudit.column_sets.records.search import find_records

__all__ = ["IndividualRisk", "RecordRequest", "RecordRisk", "TopRecord", "find_records"]
