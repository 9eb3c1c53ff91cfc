"""What fixed predictors suffer on a stream."""
