"""The sections of a report, each from the answers that it is about; nothing where there are none."""
