package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A request is one line to the environment.
type request struct {
	ID       uint64          `json:"id"`
	Op       string          `json:"op"`
	Protocol int             `json:"protocol,omitempty"`
	Task     string          `json:"task,omitempty"`
	Seed     *uint64         `json:"seed,omitempty"`
	Options  json.RawMessage `json:"options,omitempty"`
	Action   *action         `json:"action,omitempty"`
	Split    *string         `json:"split,omitempty"`
	Snapshot json.RawMessage `json:"snapshot,omitempty"`
}

// ops are the operations, with the fields that each may have besides id and op; those before the bar must be there.
var ops = map[string]string{
	"hello":    "protocol |",
	"reset":    "| task seed options",
	"step":     "action |",
	"observe":  "|",
	"state":    "|",
	"tasks":    "split |",
	"rewind":   "|",
	"snapshot": "|",
	"restore":  "snapshot |",
	"plan":     "|",
	"close":    "|",
}

// parse reads a request. With an error the ID is that of the request if that could be read, and else nil.
func parse(line []byte) (id *uint64, q request, err error) {
	m, err := fields(line)
	if err != nil {
		return nil, q, err
	}
	if raw := m["id"]; raw == nil || json.Unmarshal(raw, &id) != nil || id == nil {
		return nil, q, errors.New("id must be an integer from 0 to 18446744073709551615")
	}
	var op string
	if raw := m["op"]; raw == nil || json.Unmarshal(raw, &op) != nil {
		return id, q, errors.New("op must be a string")
	}
	layout, ok := ops[op]
	if !ok {
		return id, q, errors.New("there is no such op")
	}
	required, optional, _ := strings.Cut(layout, "|")
	needs := strings.Fields(required)
	may := append(append([]string{"id", "op"}, needs...), strings.Fields(optional)...)
	for name := range m {
		if !slices.Contains(may, name) {
			return id, q, fmt.Errorf("%s has a field that it does not know", op)
		}
	}
	for _, name := range needs {
		if _, ok := m[name]; !ok {
			return id, q, fmt.Errorf("%s lacks %s", op, name)
		}
	}
	if err := strict(line, &q); err != nil {
		return id, q, err
	}
	switch {
	case op == "hello" && q.Protocol != protocol:
		return id, q, fmt.Errorf("protocol %d is the only one", protocol)
	case op == "step" && q.Action == nil, op == "tasks" && q.Split == nil:
		return id, q, fmt.Errorf("%s lacks %s", op, needs[0])
	case op == "restore" && !object(q.Snapshot):
		return id, q, errors.New("snapshot must be an object")
	case op == "reset" && len(q.Options) > 0 && !object(q.Options):
		if !bytes.Equal(q.Options, []byte("null")) {
			return id, q, errors.New("options must be an object")
		}
		q.Options = nil
	}
	return id, q, nil
}
