"""Whatever learns weights offline that the product ships."""
