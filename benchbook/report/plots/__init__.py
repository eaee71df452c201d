"""Pictures of the pages."""
