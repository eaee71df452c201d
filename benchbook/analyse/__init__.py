"""Analysis: samples of one run become estimates, findings and nulls."""
