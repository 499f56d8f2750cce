"""One small pure file for each kind of thing that is written differently from how it is said."""
