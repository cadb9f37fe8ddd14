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

require (
	fortio.org/cli v1.7.0 // indirect
	fortio.org/dflag v1.7.2 // indirect
	fortio.org/scli v1.15.1 // indirect
	fortio.org/sets v1.1.1 // indirect
	fortio.org/struct2env v0.4.1 // indirect
	fortio.org/version v1.0.4 // indirect
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/fsnotify/fsnotify v1.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/crypto/x509roots/fallback v0.0.0-20240626151235-a6a393ffd658 // indirect
	golang.org/x/exp v0.0.0-20240613232115-7f521ea00fb8 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.23.0 // indirect
	golang.org/x/net v0.35.0 // indirect
	golang.org/x/sync v0.11.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
	golang.org/x/text v0.22.0 // indirect
	golang.org/x/tools v0.30.0 // indirect
	honnef.co/go/tools v0.6.1 // indirect
)
