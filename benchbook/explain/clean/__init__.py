"""What a log was cut from is taken off it: prompts, quoting, markup, encodings, JSON around it."""
