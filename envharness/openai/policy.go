package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"

	"github.com/throughline-go/throughline/bps"
	"github.com/throughline-go/throughline/envharness"
)

// PolicyOptions adjusts a policy. A nil *PolicyOptions equals &PolicyOptions{}.
type PolicyOptions struct {
	System string // the first message; empty means a short text of our own
	// Offer chooses, before each request, what the model is offered: the tools, of those that the turn shows, and instructions that are
	// part of this request alone. Nil means all tools and no instructions. It is called once a request, in order of the turns. Its errors
	// end the episode as they are. A call of a tool that it left out is refused, and the model is told that the tool is not offered.
	Offer func(ctx context.Context, t envharness.Turn) (instructions string, tools []envharness.Tool, err error)
	// Called is told the name of each tool that is called, in the order of the turns, before the call is carried out. Nil means that nobody
	// asks.
	Called func(name string)
	// Show tells the model what a turn shows, without a refusal, which is told before it. Nil means [Show].
	Show func(t envharness.Turn) string
	// Answer makes an action of an answer without a call, as worlds need whose last answer is text; false means that it is none. Nil
	// means that every such answer is an [envharness.ErrBadAction] that tells the model to call a tool.
	Answer func(text string) (envharness.Action, bool)
	// Require asks the server for at least one call in each answer. Not all servers know that.
	Require bool
	// Context is how many tokens one request may have, as Count counts them; beyond it the episode ends with
	// [envharness.ErrTokenBudget], or the oldest turns are left out where Forget is set. Zero means no limit but the server's. Set it where
	// a server cuts what is too long without a word, as Ollama does: the model would no longer see its task.
	Context int
	Count   func(text string) int // tokens of a text; nil means [bps.EstimateTokens]
	// Forget leaves out the oldest turns, in whole answers with what followed on them, where a request is too long by Context or by the
	// server's word. The system's message, the first one and the last answer always stay.
	Forget bool
}

const defaultSystem = "You act in an environment through the tools you are given. Each answer must call a tool. " +
	"What a tool returns is the present state of the environment. Go on until the task is done."

// A Policy is an [envharness.Policy] and [envharness.Explainer] that asks a model. A turn with Index 0 begins a new episode, whatever was
// before it.
//
// The model is shown what the turns show: the first one in a message of the user, each later one as the result of the call that led to
// it, with a refusal in words before it. If one answer has several calls they are played one after the other, a turn each, and then
// answered together, with the next request. What cannot be played is an [envharness.ErrBadAction], which uses up a turn and tells the
// model what was wrong: an answer without a call, one that was cut off, a call of a tool that was not offered, and arguments that are
// not a JSON object.
//
// A refusal and an answer withheld by a filter are [envharness.ErrStop]; a conversation that is too long is [envharness.ErrTokenBudget]; a
// server that fails, or does not want the request, is [envharness.ErrInfra], so that the episode is invalid and never a failure.
type Policy struct {
	c *Client
	o PolicyOptions

	names   names
	history history
	queue   []planned // calls of the last answer that are yet to be played
	open    bool      // the next turn shows what an answer of the model led to
	said    string
	tokens  int
}

// planned is a call that was read as an action, or could not be.
type planned struct {
	action envharness.Action
	fault  string // not empty: there is no action
}

// Policy returns a policy for one episode after another. Each rollout needs one of its own. Negative Context is as zero.
func (c *Client) Policy(o *PolicyOptions) *Policy {
	if o == nil {
		o = &PolicyOptions{}
	}
	p := &Policy{c: c, o: *o}
	if p.o.System == "" {
		p.o.System = defaultSystem
	}
	if p.o.Count == nil {
		p.o.Count = bps.EstimateTokens
	}
	if p.o.Show == nil {
		p.o.Show = Show
	}
	return p
}

// Explain returns the last answer as the model gave it, its text and then each call on a line of its own, and the tokens that it took to
// read and write. The turns of further calls of an answer have neither.
func (p *Policy) Explain() (text string, tokens int) { return p.said, p.tokens }

// Act plays the next call of the last answer, or asks for another answer.
func (p *Policy) Act(ctx context.Context, t envharness.Turn) (envharness.Action, error) {
	p.said, p.tokens = "", 0
	if t.Index == 0 || len(p.history.rounds) == 0 {
		p.names, p.queue = names{}, nil
		p.history = history{system: p.o.System, first: p.show(t), count: p.o.Count}
	} else if p.open {
		p.history.answer(p.show(t))
	}
	p.open = false
	if len(p.queue) == 0 {
		plan, err := p.ask(ctx, t)
		if err != nil {
			return envharness.Action{}, err
		}
		p.queue = plan
	}
	next := p.queue[0]
	p.queue, p.open = p.queue[1:], true
	if next.fault != "" {
		return envharness.Action{}, fmt.Errorf("%w: %s", envharness.ErrBadAction, next.fault)
	}
	if p.o.Called != nil {
		p.o.Called(next.action.Name)
	}
	return next.action, nil
}

// show is what a turn shows, with the refusal of the action before it.
func (p *Policy) show(t envharness.Turn) string {
	text := p.o.Show(t)
	if e := t.Error; e != nil && !strings.Contains(text, e.Message) {
		text = strings.TrimSpace("error (" + string(e.Class) + "): " + e.Message + "\n\n" + text)
	}
	return text
}

// ask sends the conversation and plans what to do on the answer: at least one thing.
func (p *Policy) ask(ctx context.Context, t envharness.Turn) ([]planned, error) {
	instructions, tools := "", t.Tools
	if p.o.Offer != nil {
		var err error
		if instructions, tools, err = p.o.Offer(ctx, t); err != nil {
			return nil, err
		}
	}
	offered, err := p.names.offer(tools)
	if err != nil {
		return nil, err
	}
	a, err := p.complete(ctx, instructions, offered)
	if err != nil {
		return nil, err
	}
	p.said, p.tokens = a.String(), a.used.input+a.used.output
	if a.refusal != "" {
		return nil, fmt.Errorf("%w: the model refuses: %s", envharness.ErrStop, p.c.redact.text(a.refusal))
	}
	if a.finish == finishFilter {
		return nil, fmt.Errorf("%w: the answer was withheld by a content filter", envharness.ErrStop)
	}
	if a.finish == finishLength { // what it ends with may be half a call
		p.history.say(a.content)
		return []planned{{fault: fmt.Sprintf("the answer was cut off after %d tokens: be brief, and call a tool", a.used.output)}}, nil
	}
	if len(a.calls) == 0 {
		p.history.say(a.content)
		if p.o.Answer != nil {
			if action, ok := p.o.Answer(a.content); ok {
				return []planned{{action: action}}, nil
			}
		}
		return []planned{{fault: "the answer calls no tool: " + p.names.advice(offered)}}, nil
	}
	plan := make([]planned, len(a.calls))
	for i := range a.calls {
		plan[i] = p.plan(&a.calls[i], offered, t.Tools)
	}
	p.history.call(a.content, a.calls)
	return plan, nil
}

// plan reads a call as an action, and leaves in it what a strict server takes back. The tools are those that the turn has.
func (p *Policy) plan(k *call, offered []offeredTool, tools []envharness.Tool) planned {
	for _, o := range offered {
		if o.wire == k.name {
			args, fault := arguments(k.args)
			k.args = string(args)
			if fault != "" {
				return planned{fault: fmt.Sprintf("the arguments of %s %s", o.tool.Name, fault)}
			}
			return planned{action: envharness.Action{Name: o.tool.Name, Args: args}}
		}
	}
	args, _ := arguments(k.args)
	what := "there is no tool %q: %s"
	if p.names.leftOut(k.name, offered, tools) {
		what = "the tool %q exists, but is not offered in this turn: %s"
	}
	fault := fmt.Sprintf(what, cut(k.name, maxName), p.names.advice(offered))
	k.name, k.args = sanitize(k.name), string(args)
	return planned{fault: fault}
}

// arguments returns the object that is written in s, or an empty one and what is wrong.
func arguments(s string) (json.RawMessage, string) {
	empty := json.RawMessage("{}")
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "" || trimmed == "null":
		return empty, ""
	case deep([]byte(trimmed)):
		return empty, fmt.Sprintf("are nested deeper than %d", maxDepth)
	case !json.Valid([]byte(trimmed)):
		return empty, "are not JSON: " + cut(trimmed, maxText)
	case trimmed[0] != '{':
		return empty, "are not a JSON object: " + cut(trimmed, maxText)
	}
	return json.RawMessage(s), ""
}

// complete sends the conversation until it fits.
func (p *Policy) complete(ctx context.Context, instructions string, offered []offeredTool) (answer, error) {
	tools := 0
	for _, o := range offered {
		tools += p.o.Count(o.tool.Name) + p.o.Count(o.tool.Description) + p.o.Count(string(o.tool.Schema))
	}
	if instructions != "" {
		tools += p.o.Count(instructions) + perMessage
	}
	for {
		size := p.history.size() + tools
		for p.o.Context > 0 && size > p.o.Context {
			if !p.o.Forget || !p.history.forget(1) {
				return answer{}, fmt.Errorf("%w: the request has %d tokens, %d are allowed", envharness.ErrTokenBudget, size, p.o.Context)
			}
			size = p.history.size() + tools
		}
		params := p.c.request(p.history.messages(instructions))
		params.Tools = toolParams(offered)
		if len(offered) > 0 {
			if p.c.o.NoParallel {
				params.ParallelToolCalls = param.NewOpt(false)
			}
			if p.o.Require {
				params.ToolChoice.OfAuto = param.NewOpt("required")
			}
		}
		a, err := p.c.complete(ctx, params, func() int { return size })
		failed, ok := errors.AsType[*Error](err)
		switch {
		case err == nil:
			return a, nil
		case ok && failed.tooLong:
			if p.o.Forget && p.history.forget((len(p.history.rounds)+1)/2) {
				continue
			}
			return answer{}, fmt.Errorf("%w: %s", envharness.ErrTokenBudget, failed.Error())
		case ctx.Err() != nil:
			return answer{}, err
		case errors.Is(err, ErrCost):
			return answer{}, fmt.Errorf("%w: %w", envharness.ErrInfra, err)
		}
		return answer{}, err // an Error is an ErrInfra
	}
}

// String returns the text of an answer, its refusal, and each call on a line of its own.
func (a *answer) String() string {
	var lines []string
	for _, s := range []string{a.content, a.refusal} {
		if s != "" {
			lines = append(lines, s)
		}
	}
	for _, k := range a.calls {
		lines = append(lines, strings.TrimSpace(k.name+" "+k.args))
	}
	return strings.Join(lines, "\n")
}
