package main

import (
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/zipkinexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
)

// addOfRelease adds the exporter to Zipkin, of which the module proxy lacks newer ones. Only a contract test needs it
// (tests/contract/test_same_traces.py). This release always reports its own metrics.
func addOfRelease(factories *otelcol.Factories) {
	toZipkin := zipkinexporter.NewFactory()
	factories.Exporters[toZipkin.Type()] = toZipkin
}

func byType[F component.Factory](factories ...F) map[component.Type]F {
	found := map[component.Type]F{}
	for _, factory := range factories {
		found[factory.Type()] = factory
	}
	return found
}
