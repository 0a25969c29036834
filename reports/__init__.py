"""What people read: everything here is rendered from result records alone."""
