"""Parts that several readers share."""
