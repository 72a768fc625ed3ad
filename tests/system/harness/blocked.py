"""Stores that take no write for a while, though nobody has closed anything."""

import contextlib
import sqlite3


@contextlib.contextmanager
def locked_sqlite(path):
    """Holds the database's write lock as another process would."""
    database = sqlite3.connect(path, isolation_level=None, timeout=20)
    try:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")
    finally:
        database.close()


@contextlib.contextmanager
def paused_postgres(postgres):
    """Every process of the server is stopped: connections stay open, nothing answers."""
    postgres.pause()
    try:
        yield
    finally:
        postgres.resume()


def blocked_store(case):
    """One or the other, whichever store the case runs on."""
    url = case.store_url()
    if url.startswith("sqlite:"):
        return locked_sqlite(url.removeprefix("sqlite:"))
    return paused_postgres(case.postgres)
