package openenv

import (
	"context"
	"encoding/json"

	"github.com/throughline-go/throughline/envharness"
)

// A manner is a way in which the data of a step may be written, and is answered.
type manner byte

const (
	named   manner = iota // {"name":..,"args":..}
	called                // {"type":"call_tool","tool_name":..,"arguments":..}, as the reference's client for tools writes
	listing               // {"type":"list_tools"}, of the same: no step, and possible before a reset
)

// A stepData is what the data of a step asks for.
type stepData struct {
	manner manner
	action envharness.Action // none with listing
}

// take does what the data of a step asks for, and encodes what wrap makes of the result.
func (p *play) take(ctx context.Context, d stepData, wrap func(any) any) ([]byte, error) {
	switch d.manner {
	case listing:
		return p.list(ctx, wrap)
	case called:
		b, err := p.step(ctx, d.action, func(r result) any { return wrap(calledOf(d.action.Name, r)) })
		p.sent = nil // the answer has no room for new tools: the next one has
		return b, err
	}
	return p.step(ctx, d.action, func(r result) any { return wrap(r) })
}

// A calledResult is a result as the reference's client for tools reads it.
type calledResult struct {
	Observation calledShown `json:"observation"`
	Reward      *float64    `json:"reward"`
	Done        bool        `json:"done"`
}

// A calledShown has what that client reads besides what all are shown. It has no tools: by them that client knows a list.
type calledShown struct {
	shown
	Tool   string      `json:"tool_name"`
	Result *toolResult `json:"result"` // null for a call that was refused
	Error  *toolFault  `json:"error"`  // in place of that of shown, whose fields that client does not bear
}

// A toolResult is the result of a tool in the form that the reference passes on; its client returns Data from it.
type toolResult struct {
	Content    []map[string]string `json:"content"`
	Structured map[string]any      `json:"structured_content"`
	Data       string              `json:"data"`
	IsError    bool                `json:"is_error"`
}

type toolFault struct {
	Kind    string `json:"error_type"`
	Message string `json:"message"`
}

func calledOf(tool string, r result) calledResult {
	o := calledShown{shown: r.Observation, Tool: tool}
	o.Tools = nil
	if e := r.Observation.Error; e != nil {
		o.Error = &toolFault{toolErrorOf(e.Class), or(e.Message, string(e.Class))}
	} else {
		o.Result = &toolResult{Content: []map[string]string{{"type": "text", "text": o.Text}}, Structured: o.Data, Data: o.Text}
	}
	return calledResult{o, r.Reward, r.Done}
}

// toolErrorOf is the word of the reference for a class, the reverse of toolErrors.
func toolErrorOf(c envharness.ErrorClass) string {
	for word, class := range toolErrors {
		if class == c {
			return word
		}
	}
	return "execution_error"
}

// A calledTool is a tool in the list of such a client.
type calledTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// list encodes what wrap makes of the tools as they stand.
func (p *play) list(ctx context.Context, wrap func(any) any) ([]byte, error) {
	tools, err := p.tools(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]calledTool, len(tools))
	for i, t := range tools {
		list[i] = calledTool{t.Name, t.Description, inputSchema(t)}
	}
	b, err := encode(wrap(map[string]any{"observation": map[string]any{"tools": list}, "reward": nil, "done": false}))
	if err == nil && len(b) > p.s.o.MaxMessage {
		err = errTooLong
	}
	return b, err
}
