package main

import (
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// addOfRelease adds what reports the Collector's own metrics. Earlier releases always contain it.
func addOfRelease(factories *otelcol.Factories) {
	factories.Telemetry = otelconftelemetry.NewFactory()
}

// byType also has the earlier names of types: otlp is otlp_grpc.
func byType[F component.Factory](factories ...F) map[component.Type]F {
	found, err := otelcol.MakeFactoryMap(factories...)
	if err != nil {
		log.Fatal(err)
	}
	return found
}
