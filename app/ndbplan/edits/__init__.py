"""Edits: functions from a plan to a plan that validate what they make."""
