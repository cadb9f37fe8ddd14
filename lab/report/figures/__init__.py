"""The page's figures: each module takes plain data and gives inline SVG."""
