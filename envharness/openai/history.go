package openai

import (
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
)

// perMessage is what a message takes beyond its text: its role, and the marks around it.
const perMessage = 8

// nothing stands for an answer that was empty: not all servers take an empty one back.
const nothing = "(no answer)"

// A history is a conversation that a strict server accepts: after the first message it is rounds, each an answer of the model and then
// one result for each of its calls, or a message of the user where it has none.
type history struct {
	system, first string
	rounds        []round
	ids           map[string]bool // of all calls so far, also of those that were left out
	count         func(string) int
	counted       int // tokens of system and first; 0 until they are counted
}

type round struct {
	content string
	calls   []call
	results []string // of the calls, in order, or the one message that follows on an answer without a call
	size    int      // tokens of all that
}

func (h *history) last() *round { return &h.rounds[len(h.rounds)-1] }

// say begins a round with an answer without a call.
func (h *history) say(content string) { h.call(content, nil) }

// call begins a round. Ids that are missing, too long or were there before, in this round or an earlier one, are replaced by 9 letters and
// digits, the one form that Mistral's servers take.
func (h *history) call(content string, calls []call) {
	if content == "" && len(calls) == 0 {
		content = nothing
	}
	if h.ids == nil {
		h.ids = map[string]bool{}
	}
	r := round{content: content, calls: calls, size: h.count(content) + perMessage}
	for i := range calls {
		k := &calls[i]
		for n := len(h.ids) + 1; k.id == "" || h.ids[k.id] || len(k.id) > maxID; n++ {
			k.id = fmt.Sprintf("call%05d", n)
		}
		h.ids[k.id] = true
		r.size += h.count(k.id) + h.count(k.name) + h.count(k.args) + perMessage
	}
	h.rounds = append(h.rounds, r)
}

// maxID is how long an id may be. OpenAI takes 40 characters.
const maxID = 40

// answer adds what the next call of the last round led to.
func (h *history) answer(text string) {
	r := h.last()
	r.results = append(r.results, text)
	r.size += h.count(text) + perMessage
}

// size is the number of tokens of the conversation.
func (h *history) size() int {
	if h.counted == 0 {
		h.counted = h.count(h.system) + h.count(h.first) + 2*perMessage
	}
	n := h.counted
	for i := range h.rounds {
		n += h.rounds[i].size
	}
	return n
}

// forget leaves out the n oldest rounds, but not the last. It reports whether there was one.
func (h *history) forget(n int) bool {
	n = min(n, len(h.rounds)-1)
	if n <= 0 {
		return false
	}
	h.rounds = append([]round(nil), h.rounds[n:]...)
	return true
}

// messages returns the conversation as it is sent.
func (h *history) messages(instructions string) []sdk.ChatCompletionMessageParamUnion {
	system := h.system
	if instructions != "" {
		// One message: many servers take a system's message in the first place only.
		system += "\n\n" + instructions
	}
	m := []sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage(system), sdk.UserMessage(h.first)}
	for i := range h.rounds {
		r := &h.rounds[i]
		var a sdk.ChatCompletionAssistantMessageParam
		if r.content != "" {
			a.Content.OfString = param.NewOpt(r.content)
		} else {
			a.Content = param.NullStruct[sdk.ChatCompletionAssistantMessageParamContentUnion]()
		}
		for _, k := range r.calls {
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID:       k.id,
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: k.name, Arguments: k.args},
				},
			})
		}
		m = append(m, sdk.ChatCompletionMessageParamUnion{OfAssistant: &a})
		for j, text := range r.results {
			if len(r.calls) == 0 {
				m = append(m, sdk.UserMessage(text))
			} else {
				m = append(m, sdk.ToolMessage(text, r.calls[j].id))
			}
		}
	}
	return m
}
