"""Tell a schedule as a story: happenings of each event, the scenes after it, and a picture in a file or a terminal."""
