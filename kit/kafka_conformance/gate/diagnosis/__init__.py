"""Diagnosis: known mistakes that give the wrong answers of an implementation, and no right answer contradicts."""
