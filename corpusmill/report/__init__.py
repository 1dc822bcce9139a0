"""What a person is shown: the pieces of pictures are in `svg.py`.

Imports: nothing.
"""
