"""One replica: the system under test. Importing this costs nothing."""
