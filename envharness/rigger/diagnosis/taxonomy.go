package diagnosis

// An ID names a flaw, such as F03. The empty one is that no rule fires.
type ID string

// The flaws.
const (
	Loop              ID = "F01" // the same action with the same result, over and over
	PrematureStop     ID = "F02" // stops early, and fails
	IgnoredError      ID = "F03" // goes on after a refusal as if nothing had happened, and fails
	NoRetry           ID = "F04" // never tries again what failed for no lasting reason
	BlindRetry        ID = "F05" // repeats what was refused for good
	UnreadPages       ID = "F06" // leaves pages unread, and fails
	OverLong          ID = "F07" // passes, on a long way round
	BudgetExhausted   ID = "F08" // runs into a limit
	WrongArgument     ID = "F09" // calls with arguments that are wrong
	NoPrecondition    ID = "F10" // acts before what is needed was done
	UnverifiedWrite   ID = "F11" // submits without looking at what it wrote
	UngroundedValue   ID = "F12" // uses values that nobody showed it
	StaleBelief       ID = "F13" // uses an old value where it was shown a newer one
	SingleSource      ID = "F14" // trusts one reading, and fails
	Unreadable        ID = "F15" // answers that are no action, or call no tool that there is
	Distracted        ID = "F16" // calls tools that no solution needs
	LittleExploration ID = "F17" // sees little, and fails
	OrderViolation    ID = "F18" // breaks an order that the rules ask for
	RepeatedWrite     ID = "F19" // makes the same write twice
	Hammering         ID = "F20" // calls again before a limit on the rate allows it
)

// A rule is a flaw with the function that sees it in an episode.
type rule struct {
	id          ID
	name, about string
	find        func(*episode) sign
}

// rules has the flaws in the order of their ids.
func rules() []rule {
	return []rule{
		{Loop, "loop", "does the same and is shown the same, three times or more, or goes round in a circle", loop},
		{PrematureStop, "premature stop", "ends the episode early, before it tried as much as a solution takes, and fails", prematureStop},
		{IgnoredError, "ignored error", "goes on after a refusal as if nothing had happened, and fails", ignoredError},
		{NoRetry, "no retry", "never again tries what failed for no lasting reason", noRetry},
		{BlindRetry, "blind retry", "repeats what was refused for good, with nothing changed in between", blindRetry},
		{UnreadPages, "unread pages", "is told that there is more, does not read on, and fails", unreadPages},
		{OverLong, "over-long", "passes, in more than one and a half times the turns that it takes", overLong},
		{BudgetExhausted, "budget exhausted", "runs into a limit", budgetExhausted},
		{WrongArgument, "wrong argument",
			"calls with arguments that are malformed, name what does not exist, or are not those of a solution", wrongArgument},
		{NoPrecondition, "missing precondition", "acts, more than once, before what is needed for it was done", noPrecondition},
		{UnverifiedWrite, "unverified write", "submits right after a write, without looking at what became of it", unverifiedWrite},
		{UngroundedValue, "ungrounded value", "uses names or numbers that nothing has shown it", ungroundedValue},
		{StaleBelief, "stale belief", "uses an old value after it was shown a newer one in the same place", staleBelief},
		{SingleSource, "single-source trust", "writes a value that it read once, with another source for it never asked, and fails", singleSource},
		{Unreadable, "unreadable actions", "answers with what is no action, or calls tools that it is not offered", unreadable},
		{Distracted, "distracted", "calls tools that no solution needs", distracted},
		{LittleExploration, "little exploration", "sees few different things for its turns, and fails", littleExploration},
		{OrderViolation, "order violation", "does things in another order than the rules ask for", orderViolation},
		{RepeatedWrite, "repeated write", "makes the same write more than once", repeatedWrite},
		{Hammering, "hammering", "calls again before a limit on the rate allows it", hammering},
	}
}

// IDs returns the ids of all flaws, in order. The caller owns the result.
func IDs() []ID {
	table := rules()
	ids := make([]ID, len(table))
	for i, r := range table {
		ids[i] = r.id
	}
	return ids
}

// Name returns the flaw in two or three words, such as "ignored error". That of the empty ID is "none", that of an unknown one empty.
func (id ID) Name() string {
	if id == "" {
		return "none"
	}
	r, _ := id.rule()
	return r.name
}

// About returns what a policy with the flaw does, as the rest of a sentence about it: "goes on after a refusal ..". That of the empty ID is
// that it shows no flaw, that of an unknown one empty.
func (id ID) About() string {
	if id == "" {
		return "shows none of the flaws that there are rules for"
	}
	r, _ := id.rule()
	return r.about
}

func (id ID) rule() (rule, bool) {
	for _, r := range rules() {
		if r.id == id {
			return r, true
		}
	}
	return rule{}, false
}
