// A module of its own: fortio brings gRPC and others with it, which the programs of the root module do not need.
module tollbooth/loadgen/fortio

go 1.24

tool honnef.co/go/tools/cmd/staticcheck

require (
	fortio.org/fortio v1.66.0
	fortio.org/log v1.14.0
	tollbooth v0.0.0
)

// What all generators share is in the root module.
replace tollbooth => ../..

require honnef.co/go/tools v0.6.1 // indirect
