package stdio

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/throughline-go/throughline/envharness"
)

// An action is an [envharness.Action] whose arguments are an object, or a string: the text of arguments that are no JSON object, so that
// the environment refuses what it would refuse without a wire.
type action struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

const (
	maxName = 256 << 10 // bytes of a name, of which one takes 6 on the line at most; a longer one is cut
	maxText = 256 << 10 // the same for arguments that are no object
	maxArgs = 1 << 20   // an object of more bytes is sent as one that is none
)

// outward makes an action that fits on a line, whatever a policy came up with.
func outward(a envharness.Action) *action {
	out := &action{Name: a.Name[:min(len(a.Name), maxName)]}
	switch {
	case len(a.Args) == 0:
	case len(a.Args) <= maxArgs && whole(a.Args) && !tooDeep(a.Args):
		out.Args = a.Args
	default:
		text := string(a.Args)
		if len(text) > maxText {
			text = text[:maxText] + "..." // which no object ends with
		}
		out.Args, _ = json.Marshal(text) // a string never fails
	}
	return out
}

func (a *action) inward() (envharness.Action, error) {
	in := envharness.Action{Name: a.Name, Args: a.Args}
	switch {
	case len(a.Args) == 0 || object(a.Args):
	case bytes.Equal(a.Args, []byte("null")):
		in.Args = nil
	default:
		var text string
		if json.Unmarshal(a.Args, &text) != nil {
			return in, errors.New("args must be an object or a string")
		}
		in.Args = json.RawMessage(text)
	}
	return in, nil
}
