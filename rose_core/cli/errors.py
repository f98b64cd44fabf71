"""What the reader of a command's output can put right."""


class CommandError(Exception):
    """A command cannot do what it was asked to; the message says why, and what to do."""
