"""Judgement: claims of a paper become verdicts, with what they rest on."""
