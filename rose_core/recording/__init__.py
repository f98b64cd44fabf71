"""Programs as flat numbers: read, written, and what stands in them more than once found."""
