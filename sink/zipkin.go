package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// zipkin is Zipkin's own protocol, version 2, in JSON: https://zipkin.io/zipkin-api/#/default/post_spans
var zipkin = protocol{
	unwrap: unwrapHTTP("application/json"),
	count:  countZipkin,
	answer: func(w http.ResponseWriter, r *refusal) {
		if r != nil {
			http.Error(w, r.reason, r.httpStatus)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	},
}

// countZipkin returns the number of spans in a JSON list of objects.
func countZipkin(body []byte) (int, error) {
	var spans []*struct{} // the decoder checks everything and keeps nothing
	if err := json.Unmarshal(body, &spans); err != nil {
		return 0, fmt.Errorf("not a list of Zipkin spans: %w", err)
	}
	if spans == nil || slices.Contains(spans, nil) {
		return 0, errors.New("not a list of Zipkin spans: null")
	}
	return len(spans), nil
}
