"""The files of a partition's log: the indexes that find an offset or a time, their names and their bytes."""

from kafka_reference.log_files.entries import OffsetEntry, TimeEntry, read_offset_index, read_time_index
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.log_files.time_index import TimeIndex

__all__ = ["OffsetEntry", "OffsetIndex", "TimeEntry", "TimeIndex", "read_offset_index", "read_time_index"]
