"""What files with filters of your own import; docs/extending.md."""
