"""Former place of what readers of your own import. It keeps working."""
