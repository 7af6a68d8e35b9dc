package stdio

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// A reply is one line from the environment, to the request with the ID or, if that could not be read, to none.
type reply struct {
	ID    *uint64    `json:"id"`
	OK    any        `json:"ok,omitempty"`
	Error *wireError `json:"error,omitempty"`
}

type wireError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// parseReply takes the reply to the request with the id apart: an object, or an error. Else it says what is wrong, and why if there is
// more to tell.
func parseReply(line []byte, want uint64) (ok json.RawMessage, e *wireError, wrong string, why error) {
	m, err := fields(line)
	if err != nil {
		return nil, nil, "the program wrote what is no message", err
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name != "id" && name != "ok" && name != "error" {
			return nil, nil, "the reply has a field that it does not know", errors.New(name)
		}
	}
	var id *uint64
	if raw := m["id"]; raw == nil || json.Unmarshal(raw, &id) != nil {
		return nil, nil, "the reply has no id", nil
	}
	if (m["ok"] == nil) == (m["error"] == nil) {
		return nil, nil, "the reply has neither ok nor error, or both", nil
	}
	if raw := m["error"]; raw != nil {
		e = new(wireError)
		if err := strict(raw, e); err != nil || e.Code == "" {
			return nil, nil, "the reply has an error without a code", err
		}
		if e.Code == codeBadMessage {
			return nil, nil, "the program could not read the request", errors.New(e.Message)
		}
	} else if !object(m["ok"]) {
		return nil, nil, "ok is not an object", nil
	}
	if id == nil || *id != want {
		return nil, nil, "the reply is to another request", nil
	}
	return m["ok"], e, "", nil
}
