"""What is measured: one folder for each kind of target."""
