"""What a run has to outlive: kills, a full disk, other surroundings, bad inputs; in campaigns."""
