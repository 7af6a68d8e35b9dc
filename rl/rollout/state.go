package rollout

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/throughline-go/throughline/envharness"
)

// AcceptedCalls keys a state by the calls that the base accepted before it, in order: one key for the start of each turn
// and one for the state after the last, len(t.Turns)+1 in all. In a world whose state follows from its task, its seed and
// those calls, episodes of one group with equal keys are in the same state (ours). A refused call, or one that a
// component answered, leaves the state as it is. Two orders of calls that lead to one state have two keys, so states are
// rather split than confused, up to what [envharness.CanonicalJSON] makes equal: two routes never meet again, so for
// GraphGPO and MileGPO, which need that, give keys of the world's own state where it has one. Keys are 64-bit digests:
// two of n distinct ones collide by a chance of about n²/2^65. O(bytes of arguments) time.
func AcceptedCalls(t envharness.Trace) []string {
	keys := make([]string, len(t.Turns)+1)
	h := fnv.New64a()
	for i := range t.Turns {
		keys[i] = fmt.Sprintf("%016x", h.Sum64())
		turn := &t.Turns[i]
		if turn.Applied == nil || turn.Raw == nil || turn.Raw.Error != nil {
			continue
		}
		args := []byte(turn.Applied.Args)
		if canonical, err := envharness.CanonicalJSON(json.RawMessage(args)); err == nil {
			args = canonical
		}
		fmt.Fprintf(h, "%q %q\n", turn.Applied.Name, args)
	}
	keys[len(t.Turns)] = fmt.Sprintf("%016x", h.Sum64())
	return keys
}

// ShownTexts keys a state by the text that the policy was shown in it, as [AcceptedCalls] does by calls, with keys of the same form. Routes meet
// where they show the same, as GraphGPO and MileGPO need it. It is for worlds whose text holds the whole state, such as the compact
// presets of the reference worlds; elsewhere it confuses states, above all those that answer a call by "nothing happens" (ours). A turn in
// which the base was not stepped, since the answer could not be read or a component stopped it, leaves the state as it is.
func ShownTexts(t envharness.Trace) []string {
	keys := make([]string, len(t.Turns)+1)
	text := t.Shown.Text
	for i := range keys {
		if i > 0 && t.Turns[i-1].Raw != nil { // else the base was not stepped, and what is shown is about that
			text = t.Turns[i-1].Shown.Observation.Text
		}
		h := fnv.New64a()
		h.Write([]byte(text))
		keys[i] = fmt.Sprintf("%016x", h.Sum64())
	}
	return keys
}
