"""Other spellings of calls: which there are (`rows`), and how they are taken (`calls`)."""
