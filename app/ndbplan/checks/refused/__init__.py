"""Rules about what ndb_mgmd or ndbd refuses or changes."""
