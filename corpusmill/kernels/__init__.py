"""The compiled inner loops. Arrays in, arrays out; callers have checked everything."""
