"""Rules that find problems in a plan and, where possible, offer the edit that mends them."""
