"""SAY IT: a schedule in words and pictures. In it: a ``story`` of ``scene``s, each with a ``deed``; lanes and pictures of it."""
