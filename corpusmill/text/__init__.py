"""What files with readers of your own import; docs/how-to/extend.md."""
