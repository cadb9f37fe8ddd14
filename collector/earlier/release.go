package main

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// addOfRelease adds nothing: this release always reports its own metrics.
func addOfRelease(*otelcol.Factories) {}

func byType[F component.Factory](factories ...F) map[component.Type]F {
	found := map[component.Type]F{}
	for _, factory := range factories {
		found[factory.Type()] = factory
	}
	return found
}
