package main

import "slices"

// outcome is what became of a trace.
type outcome uint8

const (
	success outcome = iota
	sendTimeout
	sendError
	receiveTimeout
	shutdown
	// empty is a draw without spans: nothing is sent.
	empty
	// accepted is a trace that was sent in an open loop, until it is matched with what came back.
	accepted
)

// The names as in the records, in the order of the constants.
var outcomeNames = [...]string{"success", "send timeout", "send error", "receive timeout", "shutdown", "empty", "accepted"}

// Codes of send errors that are neither gRPC's status codes nor HTTP's.
const (
	codeNoAnswer = -1 // HTTP: no connection, or it broke
	codeRejected = -2 // a part of the spans was rejected (partial success)
	codeNotSent  = -3 // too many requests were under way
)

func (o outcome) String() string { return outcomeNames[o] }

// outcomeOf finds an outcome by its name.
func outcomeOf(name string) (outcome, bool) {
	found := slices.Index(outcomeNames[:], name)
	return outcome(max(found, 0)), found >= 0
}

// verdict is how a send ended. Only a send error has a code.
type verdict struct {
	outcome outcome
	code    int
}

// sentWell is of a request that the target accepted.
var sentWell = verdict{outcome: success}
