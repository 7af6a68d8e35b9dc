package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throughline-go/throughline/envharness"
	"github.com/throughline-go/throughline/envharness/components"
	"github.com/throughline-go/throughline/envharness/rigger/diagnosis"
)

const (
	pass      = envharness.Pass
	failed    = envharness.Fail
	done      = envharness.EndTerminated
	stop      = envharness.EndAgentStop
	limit     = envharness.EndMaxTurns
	broke     = envharness.EndAgentError
	transient = envharness.ClassTransient
	permit    = envharness.ClassPermission
	rate      = envharness.ClassRateLimit
	badArgs   = envharness.ClassBadArgs
	notFound  = envharness.ClassNotFound
	precond   = envharness.ClassPrecondition
)

var (
	get     = step{call: `get {"id":"a1"}`, shows: `{"id":"a1","value":50}`}
	set     = step{call: `set {"id":"a1","to":77}`, shows: `{"id":"a1","value":77}`}
	submit  = step{call: `submit {"answer":"a1"}`, shows: "bye"}
	planned = []string{get.call, set.call, submit.call}
)

func refused(s step, class envharness.ErrorClass) step {
	return step{call: s.call, shows: "refused: " + s.call, class: class}
}

func do(text, shows string) step { return step{call: `do {"text":"` + text + `"}`, shows: shows} }

func plans(calls ...string) diagnosis.Context {
	return diagnosis.Context{World: desk(), Plan: actions(calls...)}
}

// Each rule at its edge: what just is the flaw, and what just is not.
func TestRules(t *testing.T) {
	list := func(page string) step {
		return step{call: `list {"owner":"bob","page":` + page + `}`, shows: `{"page":` + page + `,"items":["a1"],"has_more":true}`}
	}
	limited := step{call: get.call, shows: "too many calls of get, retry_after 3", class: rate}
	wordy := diagnosis.Context{World: hall()}
	edge := []components.Edge{{Before: components.Match{Tool: "get", Args: map[string]any{"id": "a1"}}, After: components.Match{Tool: "se*"}}}
	ordered := diagnosis.Context{World: desk(), Edges: edge}
	other := step{call: `set {"id":"a1","to":50}`, shows: `{"id":"a1","value":50}`}
	many := func(n int, different int) (steps []step) {
		for i := range n {
			steps = append(steps, step{call: `get {"id":"b` + string(rune('a'+i)) + `"}`, shows: "room " + string(rune('a'+min(i, different-1)))})
		}
		return steps
	}
	tests := []struct {
		name    string
		id      diagnosis.ID
		context diagnosis.Context
		trace   envharness.Trace
		want    []int // turns; nil means that there is no flaw, empty that it has no turns
		reason  string
	}{
		{"three", diagnosis.Loop, plans(), trace(failed, limit, get, set, get, get), []int{0, 2, 3},
			"same call, same shown, three times, wherever"},
		{"two", diagnosis.Loop, plans(), trace(failed, limit, get, set, get), nil, "one time less"},
		{"other result", diagnosis.Loop, plans(), trace(failed, limit, get, step{call: get.call, shows: "x"}, step{call: get.call, shows: "y"}), nil,
			"the same call three times, but not the same shown"},
		{"retries", diagnosis.Loop, plans(), trace(failed, limit, refused(get, transient), refused(get, transient), refused(get, transient), get), nil,
			"to try again what fails for the moment is right"},
		{"refused for good", diagnosis.Loop, plans(), trace(failed, limit, refused(get, permit), refused(get, permit), refused(get, permit)),
			[]int{0, 1, 2}, "to try again what is refused for good is a loop"},
		{"circle", diagnosis.Loop, plans(planned...), trace(failed, limit, step{get.call, "1", ""}, step{set.call, "2", ""},
			step{get.call, "3",
				""},
			step{set.call, "4", ""}, step{get.call, "5", ""}, step{set.call, "6", ""}), []int{0, 1, 2, 3, 4, 5}, "period 2 three times, though a counter is shown"},
		{"circle of the plan", diagnosis.Loop, plans(get.call, set.call, get.call, set.call, get.call, set.call), trace(failed, limit,
			step{set.call, "1", ""}, step{get.call, "2", ""}, step{set.call, "3", ""}, step{get.call, "4", ""}, step{set.call, "5", ""}, step{get.call, "6", ""}), nil,
			"a solution goes round the same circle, entered elsewhere"},
		{"walk", diagnosis.Loop, plans(planned...), trace(failed, limit, step{"left", "1", ""}, step{"left", "2", ""},
			step{"left", "3", ""}, step{"left", "4",
				""},
			step{"left", "5", ""}, step{"left", "6", ""}), nil, "the same step with another result is how one walks"},
		{"waits", diagnosis.Loop, plans(), trace(failed, limit, step{set.call, "retry_after 4", rate}, get, get, get, set), nil,
			"harmless calls while a limit runs"},

		{"stops", diagnosis.PrematureStop, plans(planned...), trace(failed, stop, get), []int{0}, "1 of 20 turns, 0 of 1 writes"},
		{"submits", diagnosis.PrematureStop, plans(), trace(failed, done, get, submit), []int{1}, "without a plan: 2 of 20 turns"},
		{"at half", diagnosis.PrematureStop, plans(), trace(failed, stop, many(10, 10)...), []int{9}, "10 of 20: equality counts"},
		{"past half", diagnosis.PrematureStop, plans(), trace(failed, stop, many(11, 11)...), nil, "11 of 20"},
		{"passes", diagnosis.PrematureStop, plans(), trace(pass, done, get, submit), nil, "Pass"},
		{"wrong", diagnosis.PrematureStop, plans(planned...), trace(failed, done, get, other, submit), nil, "all was tried, and wrong"},
		{"broke", diagnosis.PrematureStop, plans(), trace(failed, broke, get), nil, "it did not end the episode itself"},
		{"words", diagnosis.PrematureStop, diagnosis.Context{World: hall(), Plan: actions(do("look", "").call, do("go to r 1", "").call)},
			trace(failed, stop, do("look", "x")), []int{0}, "reads cannot be told: 1 of 2 calls"},

		{"ignores", diagnosis.IgnoredError, plans(), trace(failed, done, get, refused(set, permit), submit), []int{1},
			"submits after a refusal"},
		{"reads", diagnosis.IgnoredError, plans(), trace(failed, done, refused(set, permit), submit, submit, get), nil,
			"a read among the next three"},
		{"reads late", diagnosis.IgnoredError, plans(), trace(failed, done, refused(set, permit), submit, submit, submit, get), []int{0},
			"one turn too late"},
		{"same tool", diagnosis.IgnoredError, plans(), trace(failed, done, refused(set, permit), other, submit), nil,
			"the same tool again"},
		{"ends there", diagnosis.IgnoredError, plans(), trace(failed, done, get, refused(set, permit)), nil, "nothing follows"},
		{"cut off", diagnosis.IgnoredError, plans(), trace(failed, limit, get, refused(set, permit), submit), nil,
			"two more turns might have come"},
		{"passes", diagnosis.IgnoredError, plans(), trace(pass, done, get, refused(set, permit), submit), nil, "Pass"},
		{"waits", diagnosis.IgnoredError, plans(), trace(failed, done, step{set.call, "retry_after 2", rate}, submit, submit, submit), nil,
			"to a limit on the rate the answer is to wait"},
		{"stops there", diagnosis.IgnoredError, plans(), trace(failed, stop, get, refused(set, permit)), nil, "nothing follows, and it stopped"},
		{"verb", diagnosis.IgnoredError, wordy, trace(failed, stop, refused(do("take o 1 from r 1", ""), precond), do("go to r 2", ""), do("look", "")), []int{0},
			"the verb is the tool, and no read can be told"},
		{"same verb", diagnosis.IgnoredError, wordy, trace(failed, stop, refused(do("take o 1 from r 1", ""), precond), do("take o 2 from r 1", "")), nil,
			"the same verb with another thing"},

		{"gives up", diagnosis.NoRetry, plans(), trace(pass, done, refused(get, transient), set, submit), []int{0}, "never called again"},
		{"retryable", diagnosis.NoRetry, plans(), retryable(trace(pass, done, refused(get, envharness.ClassOther), set, submit)), []int{0}, "of any class"},
		{"again", diagnosis.NoRetry, plans(), trace(failed, done, refused(get, transient), set, step{call: `get {"id":"a2"}`}, submit), nil,
			"the tool, with other arguments"},
		{"no time", diagnosis.NoRetry, plans(), trace(failed, limit, set, refused(get, transient)), nil, "the limit came first"},
		{"leaves", diagnosis.NoRetry, plans(), trace(failed, stop, set, refused(get, transient)), []int{1},
			"there was time, and it stopped"},
		{"for good", diagnosis.NoRetry, plans(), trace(failed, done, refused(get, permit), set, submit), nil, "not to be retried"},
		{"spoken", diagnosis.NoRetry, wordy, trace(failed, limit, refused(do("take o 1 from r 1", ""), transient), do("take o 2 from r 1", "")), []int{0},
			"with one tool for everything the whole call counts"},

		{"blind", diagnosis.BlindRetry, plans(), trace(pass, done, refused(set, permit), refused(set, permit), get, refused(set, permit)), []int{1, 3},
			"two repetitions, a read changes nothing"},
		{"one", diagnosis.BlindRetry, plans(), trace(pass, done, refused(set, permit), refused(set, permit)), nil, "one repetition"},
		{"moment", diagnosis.BlindRetry, plans(), trace(pass, done, refused(set, transient), refused(set, transient), refused(set, transient)), nil,
			"not refused for good"},
		{"changed", diagnosis.BlindRetry, plans(), trace(pass, done, refused(set, permit), other, refused(set, permit), other, refused(set, permit)), nil,
			"another write may have helped"},
		{"worked", diagnosis.BlindRetry, plans(), trace(pass, done, refused(set, permit), refused(set, permit), set), nil,
			"the second repetition was carried out"},

		{"unread", diagnosis.UnreadPages, plans(), trace(failed, stop, list("1")), []int{0}, "has_more and no next page"},
		{"read", diagnosis.UnreadPages, plans(), trace(failed, stop, list("1"),
			step{call: list("2").call, shows: `{"has_more":false}`}), nil,
			"the next page"},
		{"half read", diagnosis.UnreadPages, plans(), trace(failed, stop, list("1"), list("2")), []int{1}, "there was a third page"},
		{"same page", diagnosis.UnreadPages, plans(), trace(failed, stop, list("1"), list("1")), []int{1}, "the same page again"},
		{"next", diagnosis.UnreadPages, plans(), trace(failed, stop, list("1"), step{call: "next"}), nil, "a tool for the next page"},
		{"passes", diagnosis.UnreadPages, plans(), trace(pass, done, list("1")), nil, "Pass"},
		{"enough", diagnosis.UnreadPages, plans(list("1").call, set.call), trace(failed, stop, list("1")), nil,
			"the plan reads no further"},
		{"not enough", diagnosis.UnreadPages, plans(list("1").call, set.call), paged(trace(failed, stop, list("1"))), []int{0},
			"a component made the pages: the plan has none"},
		{"two pages", diagnosis.UnreadPages, plans(list("1").call, list("2").call), trace(failed, stop, list("1")), []int{0}, "the plan reads on"},
		{"first text", diagnosis.UnreadPages, plans(), more(trace(failed, stop, get)), []int{}, "the first text has more"},
		{"first text read", diagnosis.UnreadPages, plans(), more(trace(failed, stop, step{call: "next"})), nil, "and was read on"},
		{"false", diagnosis.UnreadPages, plans(), trace(failed, stop, step{list("1").call, `{"has_more":"true"}`, ""}), nil,
			"a string is no true"},

		{"long", diagnosis.OverLong, plans(planned...), trace(pass, done, get, get, get, set, submit), []int{}, "5 > 1.5 * 3"},
		{"not long", diagnosis.OverLong, plans(get.call, get.call, set.call, submit.call),
			trace(pass, done, get, get, get, get, set, submit), nil,
			"6 = 1.5 * 4"},
		{"retries", diagnosis.OverLong, plans(planned...), trace(pass, done, refused(get, transient), refused(get, transient), get, set, submit), nil,
			"turns that failed for the moment do not count"},
		{"fails", diagnosis.OverLong, plans(planned...), trace(failed, done, get, get, get, set, submit), nil, "Fail"},

		{"max turns", diagnosis.BudgetExhausted, plans(), trace(failed, limit, get), []int{0}, "class budget"},
		{"component", diagnosis.BudgetExhausted, plans(), trace(failed, "budget:step_budget", get, set), []int{1}, "class budget"},
		{"tokens", diagnosis.BudgetExhausted, plans(), trace(failed, envharness.EndTokenBudget, get), []int{0}, "class budget"},
		{"truncated", diagnosis.BudgetExhausted, plans(), trace(failed, envharness.EndTruncated), []int{}, "class budget, no turn"},
		{"stop", diagnosis.BudgetExhausted, plans(), trace(failed, stop, get), nil, "class agent"},

		{"bad args", diagnosis.WrongArgument, plans(), trace(pass, done, refused(get, badArgs), get, refused(set, notFound)), []int{0, 2},
			"two, whatever the verdict"},
		{"one", diagnosis.WrongArgument, plans(), trace(pass, done, refused(get, badArgs), get), nil, "one"},
		{"unreadable", diagnosis.WrongArgument, plans(), trace(pass, done, refused(step{}, badArgs), refused(step{}, badArgs)), nil,
			"no arguments at all: F15"},
		{"at once", diagnosis.WrongArgument, plans(), trace(pass, done, refused(get, badArgs), refused(get, badArgs)), nil, "the same at once is a blind retry"},
		{"other write", diagnosis.WrongArgument, plans(planned...), trace(failed, done, get, other, submit), []int{1},
			"the tool of the plan, another value"},
		{"right write", diagnosis.WrongArgument, plans(planned...), trace(failed, done, get, set, submit), nil, "the plan's"},
		{"spaces", diagnosis.WrongArgument, plans(planned...), trace(failed, done, step{call: `set {"to": 77.0, "id": "a1"}`}), nil,
			"equal as JSON"},
		{"mended", diagnosis.WrongArgument, plans(planned...), trace(failed, done, refused(other, precond), set, submit), nil,
			"refused, then the right one"},
		{"not mended", diagnosis.WrongArgument, plans(planned...), trace(failed, done, refused(other, precond), submit), []int{0},
			"refused, and no right one"},
		{"passes", diagnosis.WrongArgument, plans(planned...), trace(pass, done, other, submit), nil, "Pass"},
		{"free text", diagnosis.WrongArgument, plans(`note {"id":"a1","text":"all settled"}`), trace(failed, done, step{call: `note {"id":"a1","text":"ok"}`}), nil,
			"the plan's words were never shown: any will do"},
		{"name in text", diagnosis.WrongArgument, plans(`note {"id":"a1","text":"see a5"}`), trace(failed, done, step{call: `note {"id":"a1","text":"see a4"}`}),
			[]int{0}, "a name is compared, shown or not"},
		{"not free", diagnosis.WrongArgument, plans(`note {"id":"a1","text":"tell bob"}`), trace(failed, done, step{call: `note {"id":"a1","text":"tell"}`}), []int{0},
			"the plan's words were shown"},
		{"renamed", diagnosis.WrongArgument, plans(planned...), offering(trace(failed, done, other), "get", "put"), nil,
			"the plan's tools are not offered: no comparison"},

		{"twice", diagnosis.NoPrecondition, plans(), trace(pass, done, refused(set, precond), get, refused(set, precond)), []int{0, 2},
			"two turns"},
		{"at once", diagnosis.NoPrecondition, plans(), trace(pass, done, refused(set, precond), refused(set, precond)), nil,
			"the same at once is a blind retry"},
		{"other class", diagnosis.NoPrecondition, plans(), trace(pass, done, refused(set, permit), get, refused(set, permit)), nil,
			"permission"},

		{"unverified", diagnosis.UnverifiedWrite, plans(planned...), trace(pass, done, get, set, submit), []int{1, 2},
			"write, submit, also of the plan"},
		{"verified", diagnosis.UnverifiedWrite, plans(), trace(pass, done, set, get, submit), nil, "a read in between"},
		{"not last", diagnosis.UnverifiedWrite, plans(), trace(pass, done, set, get, other, submit), []int{2, 3}, "the last write counts"},
		{"no submit", diagnosis.UnverifiedWrite, plans(), trace(failed, stop, get, set), nil, "nothing was submitted"},
		{"no write", diagnosis.UnverifiedWrite, plans(), trace(failed, done, get, submit), nil, "nothing was written"},
		{"not final", diagnosis.UnverifiedWrite, plans(), trace(pass, done, submit, get, set, submit), nil,
			"a call that submits at times only, as a step through a door"},
		{"nothing to read", diagnosis.UnverifiedWrite, diagnosis.Context{World: envharness.Description{Tools: desk().Tools[2:]}}, trace(pass, done, set, submit), nil,
			"there is no read"},
		{"no reads", diagnosis.UnverifiedWrite, wordy, trace(pass, done, do("take o 1 from r 1", ""), do("look", "")), nil,
			"reads cannot be told"},

		{"invented id", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `get {"id":"a9"}`}), []int{0}, "nobody said a9"},
		{"shown id", diagnosis.UngroundedValue, plans(), trace(pass, done, get), nil, "the task says a1"},
		{"shown too late", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `get {"id":"a9"}`, shows: "a9"}), []int{0},
			"its own answer is too late"},
		{"shown later", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `get {"id":"a1"}`, shows: "see a9"},
			step{call: `get {"id":"a9"}`}), nil,
			"shown before"},
		{"number", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `set {"id":"a1","to":78}`}), []int{0},
			"the task says 77"},
		{"small number", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `set {"id":"a1","to":9}`}), nil,
			"0 to 9 need no source"},
		{"fraction", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: get.call, shows: "50.50"},
			step{call: `set {"id":"a1","to":-50.5}`}), nil,
			"the same number"},
		{"word", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `get {"id":"alice"}`}), []int{0},
			"a word that may be a name"},
		{"shown word", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `get {"id":"BOB"}`}), nil,
			"shown, in other letters"},
		{"text", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `note {"id":"a1","text":"all is well"}`}), nil,
			"words of its own"},
		{"id in text", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `note {"id":"a1","text":"as a9 is"}`}), []int{0},
			"a name among words"},
		{"nested", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `set {"id":"a1","to":{"x":["a9"]}}`}), []int{0},
			"at any depth"},
		{"digit in text", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `note {"id":"a1","text":"as 5 said"}`}), nil, "0 to 9, in a text"},
		{"mail", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `note {"id":"a1","text":"ask joe@home"}`}), []int{0}, "an address"},
		{"spoken words", diagnosis.UngroundedValue, wordy, trace(pass, done, do("look", "you see r 1"), do("take moon from r 1", "")), []int{1}, "all words"},
		{"refusal", diagnosis.UngroundedValue, plans(), quiet(trace(pass, done, step{get.call, "use a9", permit}, step{call: `get {"id":"a9"}`})), nil,
			"a refusal shows something too"},
		{"free place", diagnosis.UngroundedValue, plans(`note {"id":"a1","text":"settled"}`), trace(pass, done, step{call: `note {"id":"a1","text":"fine"}`}), nil,
			"the plan's word was never shown: any will do"},
		{"free place with a name", diagnosis.UngroundedValue, plans(`note {"id":"a1","text":"settled"}`),
			trace(pass, done, step{call: `note {"id":"a1","text":"a9"}`}), []int{0}, "but a name is a name"},
		{"of the plan", diagnosis.UngroundedValue, plans(`get {"id":"a9"}`), trace(pass, done, step{call: `get {"id":"a9"}`}), nil, "the plan's own value"},
		{"one tool", diagnosis.UngroundedValue, diagnosis.Context{}, trace(pass, done, do("look", "r 1 and o 2"), do("open r 2", "")), []int{1},
			"no description, and one tool is called: spoken, with verbs that need no source"},
		{"more tools", diagnosis.UngroundedValue, diagnosis.Context{}, trace(pass, done, step{call: "news", shows: "r 1 and o 2"}, do("see r 2", "")), nil,
			"no description, and two tools: plain words"},
		{"known place", diagnosis.UngroundedValue, plans(`note {"id":"a1","text":"tell bob"}`), trace(pass, done, step{call: `note {"id":"a1","text":"tell carol"}`}),
			[]int{0}, "the plan's words were shown, so all must be"},
		{"answer", diagnosis.UngroundedValue, plans(), trace(pass, done, step{call: `submit {"answer":"154"}`}), nil,
			"an answer may be worked out"},
		{"spoken", diagnosis.UngroundedValue, wordy, trace(pass, done, step{call: do("look", "").call, shows: "you see r 1 and o 2"}, do("go to r 2", "")), []int{1},
			"r and 2 were shown, r 2 was not"},
		{"spoken shown", diagnosis.UngroundedValue, wordy, trace(pass, done, step{call: do("look", "").call, shows: "you see r 1, and an o 2"}, do("take o 2 from r 1", "")), nil,
			"all names were shown, the verb is in the description"},
		{"listed", diagnosis.UngroundedValue, plans(), listing(trace(pass, done, step{call: `get {"id":"a9"}`}), `get {"id":"a9"}`), nil,
			"an action that is listed"},

		{"listed, told later", diagnosis.UngroundedValue, plans(), listing(trace(pass, done, step{call: `get {"id":"a9"}`, shows: "a9"}), `get {"id":"a9"}`), nil,
			"the list came first"},
		{"stale", diagnosis.StaleBelief, plans(), trace(pass, done, get, step{get.call, `{"id":"a1","value":60}`, ""}, step{call: `set {"id":"a1","to":50}`}), []int{1, 2},
			"50 was replaced by 60"},
		{"newest", diagnosis.StaleBelief, plans(), trace(pass, done, get, step{get.call, `{"id":"a1","value":60}`, ""},
			step{call: `set {"id":"a1","to":60}`}), nil,
			"the newest"},
		{"elsewhere", diagnosis.StaleBelief, plans(), trace(pass, done, get, step{`get {"id":"a2"}`, `{"value":50}`, ""},
			step{get.call, `{"id":"a1","value":60}`,
				""},
			step{call: `set {"id":"a1","to":50}`}), nil, "50 still stands elsewhere"},
		{"before", diagnosis.StaleBelief, plans(), trace(pass, done, get, step{call: `set {"id":"a1","to":50}`}, step{get.call, `{"id":"a1","value":60}`, ""}), nil,
			"it was used while it was the newest"},
		{"asked for", diagnosis.StaleBelief, plans(), trace(pass, done, step{get.call, `{"value":77}`, ""},
			step{get.call, `{"value":60}`, ""}, set), nil,
			"the task says 77"},
		{"read", diagnosis.StaleBelief, plans(), trace(pass, done, step{get.call, `{"o":"a1x"}`, ""}, step{get.call, `{"o":"a2x"}`, ""}, step{call: `get {"id":"a1x"}`}), nil,
			"to look at the old one is no belief"},
		{"back again", diagnosis.StaleBelief, plans(), trace(pass, done, get, step{get.call, `{"value":60}`, ""}, get, step{call: `set {"id":"a1","to":50}`}), nil,
			"50 is the newest again"},

		{"one source", diagnosis.SingleSource, plans(planned...), trace(failed, done, step{get.call, `{"owner":"bob","value":50}`, ""}, other, submit), []int{0, 1},
			"50 read once, and list has an argument named owner"},
		{"asked", diagnosis.SingleSource, plans(planned...), trace(failed, done,
			step{get.call, `{"owner":"bob","value":50}`, ""}, list("1"), other, submit), nil,
			"list was called"},
		{"read twice", diagnosis.SingleSource, plans(planned...), trace(failed, done, step{get.call, `{"owner":"bob","value":50}`, ""},
			step{get.call, `{"owner":"bob","value":50}`,
				""},
			other, submit), nil, "read twice"},
		{"no other", diagnosis.SingleSource, plans(planned...), trace(failed, done, step{get.call, `{"value":50}`, ""}, other, submit), nil,
			"no read is known that could tell"},
		{"told by the task", diagnosis.SingleSource, plans(), trace(failed, done, step{get.call, `{"owner":"bob","value":77}`, ""}, set, submit), nil, "77 is asked for"},
		{"told by a write", diagnosis.SingleSource, plans(), trace(failed, done, step{`note {"id":"a1"}`, `{"owner":"bob","value":50}`, ""}, other, submit), nil,
			"no read"},
		{"shown again", diagnosis.SingleSource, plans(), trace(failed, done, step{get.call, `{"owner":"bob","value":50}`, ""}, other, step{submit.call, "50", ""}),
			[]int{0, 1}, "what is shown after the write does not count"},
		{"right", diagnosis.SingleSource, plans(get.call, other.call), trace(failed, done,
			step{get.call, `{"owner":"bob","value":50}`, ""}, other, submit), nil,
			"the plan's value"},
		{"passes", diagnosis.SingleSource, plans(planned...), trace(pass, done,
			step{get.call, `{"owner":"bob","value":50}`, ""}, other, submit), nil,
			"Pass"},

		{"gibberish", diagnosis.Unreadable, plans(), trace(pass, done, refused(step{}, badArgs), get, set, submit), []int{0}, "1 of 4"},
		{"one in ten", diagnosis.Unreadable, plans(), trace(pass, done, append(many(9, 9), refused(step{}, badArgs))...), nil,
			"0.1 is not more than 0.1"},
		{"unknown tool", diagnosis.Unreadable, plans(),
			trace(pass, done, refused(step{call: "ponder"}, envharness.ClassUnknownTool), get), []int{0},
			"class unknown_tool"},
		{"not offered", diagnosis.Unreadable, plans(), offering(trace(pass, done, get, set), "get"), []int{1}, "set is not offered"},

		{"offered later", diagnosis.Unreadable, plans(), adding(offering(trace(pass, done, get, set, set), "get"), 1, "get", "set"), []int{1},
			"offered from the turn after on"},
		{"renamed", diagnosis.Distracted, plans(planned...), offering(trace(failed, stop, step{call: "fetch"}, step{call: "fetch"}), "fetch", "put"), nil,
			"the plan's tools are not offered: no comparison"},
		{"other parameters", diagnosis.Distracted, plans(planned...), drifted(trace(failed, stop, step{call: "fetch"}, step{call: "fetch"})), nil,
			"the plan's arguments are not offered: no comparison"},
		{"distracted", diagnosis.Distracted, plans(planned...), trace(failed, stop, step{call: "news"}, step{call: "forum"}), []int{0, 1},
			"two calls, of any such tools"},
		{"once", diagnosis.Distracted, plans(planned...), trace(failed, stop, step{call: "news"}, get), nil, "once"},
		{"unknown", diagnosis.Distracted, plans(), trace(failed, stop, step{call: "news"}, step{call: "forum"}), nil,
			"no solution is known"},
		{"reads on", diagnosis.Distracted, plans(planned...), trace(failed, stop, get, step{call: "next"}, step{call: "show_more"}), nil,
			"reading on"},
		{"useful", diagnosis.Distracted, plans(planned...), trace(failed, stop, step{`list {"owner":"bob"}`, "a5 a6", ""},
			step{`list {"owner":"bob","page":2}`, "a7",
				""},
			step{call: `get {"id":"a7"}`}), nil, "one of the two showed what was used"},

		{"stays", diagnosis.LittleExploration, plans(), trace(failed, stop, many(10, 3)...), []int{}, "3 of 10: equality counts"},
		{"looks", diagnosis.LittleExploration, plans(), trace(failed, stop, many(10, 4)...), nil, "4 of 10"},
		{"passes", diagnosis.LittleExploration, plans(), trace(pass, done, many(10, 1)...), nil, "Pass"},

		{"order", diagnosis.OrderViolation, ordered, trace(pass, done, set, get, set), []int{0}, "set before get of a1"},
		{"kept", diagnosis.OrderViolation, ordered, trace(pass, done, get, set), nil, "in order"},
		{"other argument", diagnosis.OrderViolation, ordered, trace(pass, done, step{call: `get {"id":"a2"}`}, set), []int{1},
			"get of another one"},
		{"renamed", diagnosis.OrderViolation, ordered, applied(trace(pass, done, step{call: "put"}), `set {"id":"a1"}`), []int{0}, "set, under another name"},
		{"replaced", diagnosis.OrderViolation, ordered, applied(trace(pass, done, get, submit), `set {"id":"a1"}`), nil, "what came in its place was not called"},
		{"refused", diagnosis.OrderViolation, ordered, trace(pass, done, refused(get, permit), set), []int{1}, "get was not carried out"},

		{"again", diagnosis.RepeatedWrite, plans(planned...), trace(pass, done, set, get, set, set), []int{2, 3},
			"carried out three times"},
		{"refused", diagnosis.RepeatedWrite, plans(planned...), trace(pass, done, refused(set, transient), set), nil, "carried out once"},
		{"planned", diagnosis.RepeatedWrite, plans(set.call, set.call), trace(pass, done, set, set), nil, "as the plan has it"},
		{"step", diagnosis.RepeatedWrite, plans(planned...), trace(pass, done, step{call: "set"}, step{call: "set {}"}), nil,
			"without arguments"},
		{"words", diagnosis.RepeatedWrite, wordy, trace(pass, done, do("look", ""), do("look", "")), nil, "reads cannot be told"},

		{"hammers", diagnosis.Hammering, plans(), trace(pass, done, limited, set, refused(get, rate)), []int{2}, "2 turns after, of 3"},
		{"waits", diagnosis.Hammering, plans(), trace(pass, done, limited, set, other, get), nil, "3 turns after"},
		{"waits with refusals", diagnosis.Hammering, plans(), trace(pass, done, limited, refused(set, rate), refused(set, rate), get), nil,
			"all tools are limited: what is called meanwhile begins no wait"},
		{"spoken", diagnosis.Hammering, wordy, trace(pass, done, step{do("take o 1", "").call, "retry_after 4", rate}, do("look", ""), do("take o 1", "")), []int{2},
			"with one tool for everything the whole call counts"},
		{"no number", diagnosis.Hammering, plans(), trace(pass, done, step{get.call, "slow down", rate}, get), []int{1},
			"the next turn is too early"},
	}
	both := make(map[diagnosis.ID][2]bool)
	for _, tt := range tests {
		b := both[tt.id]
		b[map[bool]int{true: 1}[tt.want != nil]] = true
		both[tt.id] = b
		t.Run(string(tt.id)+" "+tt.name, func(t *testing.T) {
			if tt.reason == "" {
				t.Error("no reason")
			}
			flaws, err := diagnosis.Diagnose([]envharness.Trace{tt.trace}, tt.context, all())
			if err != nil {
				t.Fatal(err)
			}
			f, ok := find(flaws, tt.id)
			if ok != (tt.want != nil) {
				t.Fatalf("found %v %+v: %s", ok, f, tt.reason)
			}
			if ok && !slices.Equal(f.Found[0].Turns, tt.want) {
				t.Error(cmp.Diff(tt.want, f.Found[0].Turns), tt.reason)
			}
			if ok && f.Found[0].Note == "" {
				t.Error("no note")
			}
		})
	}
	for _, id := range diagnosis.IDs() {
		if both[id] != [2]bool{true, true} {
			t.Errorf("%s is not tested both ways", id)
		}
	}
}

func offering(t envharness.Trace, names ...string) envharness.Trace {
	for _, n := range names {
		t.Tools = append(t.Tools, envharness.Tool{Name: n})
	}
	return t
}

func listing(t envharness.Trace, calls ...string) envharness.Trace {
	t.Shown.Actions = actions(calls...)
	return t
}

func paged(t envharness.Trace) envharness.Trace {
	for i := range t.Turns {
		t.Turns[i].Layers = []envharness.Layer{{Component: "paginate", ObservationOut: &t.Turns[i].Shown.Observation}}
	}
	return t
}

func more(t envharness.Trace) envharness.Trace {
	t.Shown.Data = map[string]any{"page": map[string]any{"has_more": true}}
	return t
}

// adding offers other tools from turn i on.
func adding(t envharness.Trace, i int, names ...string) envharness.Trace {
	t.Turns[i].Tools = offering(envharness.Trace{}, names...).Tools
	return t
}

// drifted offers the tools of the desk with other arguments.
func drifted(t envharness.Trace) envharness.Trace {
	t.Tools = desk().Tools
	for i := range t.Tools {
		t.Tools[i].Schema = []byte(`{"properties":{"x":{}}}`)
	}
	return t
}

// applied has another call come to the base in every turn.
func applied(t envharness.Trace, call string) envharness.Trace {
	for i := range t.Turns {
		a := action(call)
		t.Turns[i].Applied = &a
	}
	return t
}

// Without a plan the median of the passed episodes says how long it takes: of an even number the mean of the two in the middle.
func TestMedian(t *testing.T) {
	tests := []struct {
		name    string
		lengths []int
		want    []int // slots
		reason  string
	}{
		{"odd", []int{2, 4, 2}, []int{1}, "4 > 1.5 * 2"},
		{"even", []int{2, 4}, nil, "4 <= 1.5 * 3"},
		{"more", []int{2, 5, 4, 2}, []int{1}, "5 > 1.5 * 3, 4 is not"},
		{"one", []int{9}, nil, "it is the median"},
	}
	for _, tt := range tests {
		var traces []envharness.Trace
		for slot, n := range tt.lengths {
			tr := trace(pass, done, slices.Repeat([]step{get}, n)...)
			tr.Slot = slot
			traces = append(traces, tr)
		}
		f, _ := find(diagnose(t, traces, plans(), all()), diagnosis.OverLong)
		var got []int
		for _, x := range f.Found {
			got = append(got, x.Slot)
		}
		if tt.reason == "" || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}

// quiet shows no text.
func quiet(t envharness.Trace) envharness.Trace {
	for i := range t.Turns {
		t.Turns[i].Shown.Observation.Text = ""
	}
	return t
}

// retryable marks the refusals as such that pass.
func retryable(t envharness.Trace) envharness.Trace {
	for i := range t.Turns {
		if r := t.Turns[i].Shown.Error; r != nil {
			r.Retryable = true
		}
	}
	return t
}
