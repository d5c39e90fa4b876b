"""Why a page became what it is: for `plumb explain URL` and the coloured page."""
