"""Former place of what filters of your own import. It keeps working."""
