"""Closed-form answers about a Plan, each one a Quantity that explains itself."""
