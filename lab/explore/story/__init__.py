"""A schedule as a story: what each event does, the scenes after it, and their picture in a file and in a terminal."""
