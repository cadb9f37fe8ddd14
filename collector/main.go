// Command otelcol is an OpenTelemetry Collector with only the components that the files in collector/pipelines name.
// release.go has what differs between releases; for the earlier one it is that of earlier/.
package main

import (
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/routingconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/groupbyattrsprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/groupbytraceprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/probabilisticsamplerprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/resourceprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/forwardconnector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
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
	found := otelcol.Factories{
		Receivers: byType[receiver.Factory](otlpreceiver.NewFactory()),
		Processors: byType[processor.Factory](
			attributesprocessor.NewFactory(),
			batchprocessor.NewFactory(),
			filterprocessor.NewFactory(),
			groupbyattrsprocessor.NewFactory(),
			groupbytraceprocessor.NewFactory(),
			memorylimiterprocessor.NewFactory(),
			probabilisticsamplerprocessor.NewFactory(),
			resourceprocessor.NewFactory(),
			tailsamplingprocessor.NewFactory(),
			transformprocessor.NewFactory(),
		),
		Exporters: byType[exporter.Factory](
			debugexporter.NewFactory(), otlpexporter.NewFactory(), otlphttpexporter.NewFactory(),
		),
		Connectors: byType[connector.Factory](
			forwardconnector.NewFactory(), routingconnector.NewFactory(), spanmetricsconnector.NewFactory(),
		),
	}
	addOfRelease(&found)
	return found, nil
}
