"""Is `backplay advise` right? Its answer for eleven tasks, beside what training takes."""
