// A module of its own: it brings gRPC and the Collector's pdata, which the observer and the sink of the root module do
// not need.
module tollbooth/loadgen/traces

go 1.25.0

require (
	go.opentelemetry.io/collector/pdata v1.61.0
	golang.org/x/net v0.55.0
	google.golang.org/grpc v1.81.1
	google.golang.org/protobuf v1.36.11
	tollbooth v0.0.0
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/hashicorp/go-version v1.9.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	go.opentelemetry.io/collector/featuregate v1.61.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.35.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
	golang.org/x/text v0.37.0 // indirect
	golang.org/x/tools v0.44.0 // indirect
	golang.org/x/tools/go/expect v0.1.1-deprecated // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260226221140-a57be14db171 // indirect
	honnef.co/go/tools v0.6.1 // indirect
)

// What all generators share is in the root module.
replace tollbooth => ../..

tool honnef.co/go/tools/cmd/staticcheck
