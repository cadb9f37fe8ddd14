// Command otelcol is an OpenTelemetry Collector with only the components that the files in pipelines/ name.
package main

import (
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// version is set by the linker.
var version = "dev"

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol", Description: "OpenTelemetry Collector", Version: version},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				// The command reads `${NAME}` from the environment by default, so it needs that provider.
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory()},
			},
		},
	})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}

func factories() (otelcol.Factories, error) {
	return otelcol.Factories{
		Receivers:  byType[receiver.Factory](otlpreceiver.NewFactory()),
		Processors: byType[processor.Factory](memorylimiterprocessor.NewFactory(), batchprocessor.NewFactory()),
		Exporters:  byType[exporter.Factory](otlpexporter.NewFactory()),
		Telemetry:  otelconftelemetry.NewFactory(),
	}, nil
}

func byType[F component.Factory](factories ...F) map[component.Type]F {
	found := map[component.Type]F{}
	for _, factory := range factories {
		found[factory.Type()] = factory
	}
	return found
}
