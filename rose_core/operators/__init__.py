"""From functions to functions that are their derivatives."""
