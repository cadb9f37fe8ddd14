"""The target proxy: an Envoy between the load and a test server, with one of its tracers."""
