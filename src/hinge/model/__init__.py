"""A model and its file: statistics, explanations, covariance, supports, saving and loading."""
