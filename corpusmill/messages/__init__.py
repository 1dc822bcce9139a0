"""Text for people: sentences, progress, spelling hints, disk errors, other people's text made safe.

Imports: nothing.
"""
