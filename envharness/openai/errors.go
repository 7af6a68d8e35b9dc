package openai

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/throughline-go/throughline/envharness"
)

// ErrCost is the error of a request that was not sent because the costs reached [Options].MaxCost.
var ErrCost = errors.New("openai: the limit of costs is reached")

// An Error is a request that failed for good. The texts are the server's, in one line, cut to 300 bytes, and with [redacted] in place of
// secrets; what was sent is not in them. A 404 where [Options].BaseURL has no path asks, after the text, whether /v1 is missing. It is
// an [envharness.ErrInfra].
type Error struct {
	Status   int    // of the answer; 0 where there was none
	Code     string // such as "rate_limit_exceeded", empty where the server gave none
	Type     string // such as "invalid_request_error", likewise
	Message  string
	Attempts int // how often it was sent

	retry   bool          // another attempt may succeed
	wait    time.Duration // what the server asks to wait before it
	asked   bool          // it asks for it
	tooLong bool          // the request does not fit into what the model can read
}

// Error returns the status, code, type and message.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("openai: ")
	if e.Status != 0 {
		b.WriteString("status " + strconv.Itoa(e.Status) + ": ")
	}
	if e.Code != "" {
		b.WriteString(e.Code + ": ")
	}
	if e.Type != "" && e.Type != e.Code {
		b.WriteString(e.Type + ": ")
	}
	b.WriteString(e.Message)
	if e.Attempts > 1 {
		b.WriteString(" (after " + strconv.Itoa(e.Attempts) + " attempts)")
	}
	return b.String()
}

// Is makes an Error an [envharness.ErrInfra].
func (e *Error) Is(target error) bool { return target == envharness.ErrInfra }
