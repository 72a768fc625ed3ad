"""Raw HTTP/1.1 cases in both directions, and what plays them against the program or against any other proxy."""
