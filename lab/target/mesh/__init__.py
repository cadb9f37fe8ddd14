"""The target mesh: Spring services that call each other, with telemetry variants and Envoy sidecars."""
