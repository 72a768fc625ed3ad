"""What the system tests are made of: the program as a process, its peers, and a client that sees every byte."""
