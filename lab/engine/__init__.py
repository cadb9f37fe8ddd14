"""Containers and the machine below them: the Compose driver, images, ports, CPUs, the clock."""
