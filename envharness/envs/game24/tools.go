package game24

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/envs/internal/rules"
	"github.com/throughline-go/throughline/envharness/sim"
)

// The names of the tools. The reference calls restart "reset", a name that is reserved for the harness.
const (
	combineTool = "combine"
	restartTool = "restart"
	stopTool    = "stop"
)

// tools describes the calls in the order in which they are shown. The schemas are canonical JSON.
func tools() []envharness.Tool {
	return []envharness.Tool{
		{
			Name: combineTool,
			Description: "Take the numbers at positions i and j out of the list and append i op j: their sum, difference, product or quotient. " +
				"Positions count from 0.",
			Schema: json.RawMessage(`{"additionalProperties":false,"properties":{` +
				`"i":{"description":"position of the left number","maximum":3,"minimum":0,"type":"integer"},` +
				`"j":{"description":"position of the right number, another than i","maximum":3,"minimum":0,"type":"integer"},` +
				`"op":{"description":"operation","enum":["add","sub","mul","div"],"type":"string"}},` +
				`"required":["i","j","op"],"type":"object"}`),
		},
		{Name: restartTool, Description: "Bring the numbers of the start back.", Schema: rules.NoArgs()},
		{
			Name: stopTool, Description: "End the game. It is won if one number is left and that number is 24.", Schema: rules.NoArgs(), Submits: true,
		},
	}
}

// parseMove validates the arguments of combine for a list of n numbers.
func parseMove(raw json.RawMessage, n int) (move, *envharness.ActionError) {
	args, refusal := sim.Args(raw, "i", "j", "op")
	if refusal != nil {
		return move{}, refusal
	}
	var m move
	for _, p := range []struct {
		name string
		to   *int
	}{{"i", &m.i}, {"j", &m.j}} {
		f, ok := args[p.name].(float64)
		if !ok || f != math.Trunc(f) || f < 0 || f >= float64(n) {
			return move{}, sim.Refuse(envharness.ClassBadArgs, "argument %s must be a position from 0 to %d", p.name, n-1)
		}
		*p.to = int(f)
	}
	if m.i == m.j {
		return move{}, sim.Refuse(envharness.ClassBadArgs, "arguments i and j must be two positions, both are %d", m.i)
	}
	name, _ := args["op"].(string)
	op := slices.Index(operatorNames[:], name)
	if op < 0 {
		return move{}, sim.Refuse(envharness.ClassBadArgs, "argument op must be one of: add, sub, mul, div")
	}
	m.op = operator(op)
	return m, nil
}

// appendArgs writes the arguments of a move as canonical JSON.
func (m move) appendArgs(b []byte) []byte {
	b = append(b, `{"i":`...)
	b = strconv.AppendInt(b, int64(m.i), 10)
	b = append(b, `,"j":`...)
	b = strconv.AppendInt(b, int64(m.j), 10)
	b = append(b, `,"op":"`...)
	b = append(b, m.op.String()...)
	return append(b, `"}`...)
}

func (m move) action() envharness.Action {
	return envharness.Action{Name: combineTool, Args: m.appendArgs(nil)}
}

// admissible lists all calls that would be carried out.
func (h hand) admissible() []envharness.Action {
	moves := 4 * h.n * (h.n - 1)
	out := make([]envharness.Action, 0, moves+2)
	args := make([]byte, 0, moves*len(`{"i":0,"j":1,"op":"add"}`)) // of all calls, one after the other
	for i := range h.n {
		for j := range h.n {
			for op := add; i != j && op <= div; op++ {
				if op == div && h.v[j].num == 0 {
					continue
				}
				start := len(args)
				args = move{i, j, op}.appendArgs(args)
				out = append(out, envharness.Action{Name: combineTool, Args: args[start:len(args):len(args)]})
			}
		}
	}
	return append(out, envharness.Action{Name: restartTool}, envharness.Action{Name: stopTool})
}
