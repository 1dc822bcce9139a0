"""What files with filters of your own import; docs/how-to/extend.md."""
