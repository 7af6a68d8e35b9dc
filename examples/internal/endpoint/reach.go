package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/throughline-go/throughline/envharness/openai"
)

// ping is what is asked to learn whether there is a model.
const ping = "ping"

// Reach asks the model for a single token, once, so that what no further attempt would mend ends a program before its work starts: a server
// that is not there or answers something else, a key that is refused, and a model or a path that it does not know. Where a server takes no
// such short request it is asked once more without that limit. What it answers is of no interest, and what may pass, such as a limit of
// requests or a failure inside it, is no error here. A nil model is not asked.
func (m *Model) Reach(ctx context.Context) error {
	if m == nil {
		return nil
	}
	_, err := m.short.Generate(ctx, ping)
	if e, ok := errors.AsType[*openai.Error](err); ok && refused(e.Status) {
		_, err = m.client.Generate(ctx, ping)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, failed := errors.AsType[*openai.Error](err)
	switch {
	case !failed || mayPass(e):
		return nil
	case e.Status == http.StatusNotFound:
		return fmt.Errorf("the model does not answer: %w; check -model, and whether -endpoint needs /v1 at its end", err)
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return fmt.Errorf("the model does not answer: %w; check the key that -key-env names", err)
	}
	return fmt.Errorf("the model does not answer: %w", err)
}

// refused says whether a server did not want a request as it was, which the limit of a token may be the reason for.
func refused(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// mayPass says whether a request that failed may be answered later.
func mayPass(e *openai.Error) bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict:
		return true
	case http.StatusTooManyRequests:
		return e.Code != "insufficient_quota"
	case http.StatusNotImplemented:
		return false
	}
	return e.Status >= http.StatusInternalServerError
}
