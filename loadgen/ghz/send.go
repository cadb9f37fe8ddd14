package main

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/bojand/ghz/protodesc"
	"github.com/bojand/ghz/runner"
	"github.com/jhump/protoreflect/desc"
	"github.com/jhump/protoreflect/dynamic"

	"tollbooth/internal/requests"
)

const (
	call = "Service.Mock"
	// ghz's default, repeated here because a request that took this long is marked: the generator gave it up.
	timeout = 20 * time.Second
)

// send makes the requests of a load and returns them in order of ending.
func send(l load, proto string) ([]requests.Row, error) {
	method, err := protodesc.GetMethodDescFromProto(call, filepath.Base(proto), []string{filepath.Dir(proto)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", proto, err)
	}
	// One that cannot be made would otherwise be reported once for every request.
	if _, err := message(l, method, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", proto, err)
	}
	options := append(amount(l),
		runner.WithInsecure(true),
		runner.WithProtoFile(filepath.Base(proto), []string{filepath.Dir(proto)}),
		runner.WithTimeout(timeout),
		runner.WithDataProvider(func(data *runner.CallData) ([]*dynamic.Message, error) {
			one, err := message(l, method, uint32(data.RequestNumber))
			return []*dynamic.Message{one}, err
		}),
	)
	var plan *schedule
	if l.RequestsPerS != nil {
		plan = &schedule{perS: *l.RequestsPerS, requests: math.MaxInt32}
		if l.Requests != nil {
			plan.requests = uint64(*l.Requests)
		}
		options = append(options, runner.WithPacer(plan))
	}
	anchor := time.Now()
	report, err := runner.Run(call, l.Target, options...)
	if err != nil {
		return nil, err
	}
	if uint64(len(report.Details)) < report.Count {
		return nil, fmt.Errorf("ghz kept %d of %d results: it keeps at most %d", len(report.Details), report.Count, maxRequests)
	}
	return rowsOf(report.Details, l.name(), anchor, plan), nil
}

// amount is how many requests ghz makes, or for how long, and how many of them at once.
func amount(l load) []runner.Option {
	var options []runner.Option
	if l.Requests != nil {
		options = append(options, runner.WithTotalRequests(uint(*l.Requests)))
	} else {
		options = append(options, runner.WithDurationStopAction("wait"),
			runner.WithRunDuration(time.Duration(*l.DurationS*float64(time.Second))))
	}
	if l.Concurrency != nil {
		return append(options, runner.WithConcurrency(uint(*l.Concurrency)))
	}
	// One worker that hands on each request as it is due and waits for none of them.
	return append(options, runner.WithConcurrency(1), runner.WithAsync(true))
}

// message is what the load's request of that number (from 0) carries.
func message(l load, method *desc.MethodDescriptor, number uint32) (*dynamic.Message, error) {
	one := dynamic.NewMessage(method.GetInputType())
	err := one.TrySetFieldByName("request_counter", l.FirstCounter+number)
	if err == nil && l.ErrorProbability != nil {
		err = one.TrySetFieldByName("error_probability", *l.ErrorProbability)
	}
	return one, err
}
