// Package openaitest is an offline model endpoint for tests. It is strict about the wire: a request that the OpenAI API would refuse is
// refused, with a reason.
package openaitest

import "net/http/httptest"

// A Server is a fake endpoint.
type Server struct{ *httptest.Server }
