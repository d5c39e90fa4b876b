"""What a site says it has: sitemaps and feeds, when they are asked for, and how far their dates are believed."""
