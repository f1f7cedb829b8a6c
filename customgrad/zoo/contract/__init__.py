"""What forward and backward take and return: number, kind, shape and dtype."""
