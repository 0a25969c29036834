"""What pages show, as plain data made of the record, so that templates decide nothing."""
