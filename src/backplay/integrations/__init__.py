"""Other libraries, each imported only when asked for."""
