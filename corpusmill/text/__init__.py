"""What files with readers of your own import; docs/extending.md."""
