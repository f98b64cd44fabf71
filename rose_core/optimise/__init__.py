"""Programs that do the same with less: before they are differentiated, and before they are lowered."""
