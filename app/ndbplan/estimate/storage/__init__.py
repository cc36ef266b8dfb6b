"""What is stored: rows, tables, fragments, and where they lie."""
