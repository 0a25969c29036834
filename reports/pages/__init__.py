"""Pages and cells of HTML, rendered from views."""
