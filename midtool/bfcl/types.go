package bfcl

import "encoding/json"

// A Function is one function that a task offers. Its schema is in the leaderboard's dialect: type words such as "dict",
// "float" and "tuple", or those of Java and JavaScript.
type Function struct {
	Name        string
	Description string
	Parameters  json.RawMessage // object schema: "properties" and "required"; absent ones count as empty
	Response    json.RawMessage // schema of the result, in the function documents of multi-turn tasks; nil if unknown
}

// A Message is one message of a question.
type Message struct {
	Role    string
	Content string
}

// A Task is one row of a question file, with its gold answer where that is known.
type Task struct {
	ID        string
	Category  string      // decides how calls are compared, see [NewChecker]; [ReadTasks] takes it from the ID
	Turns     [][]Message // one turn but in multi-turn tasks, where a turn may be empty
	Functions []Function  // offered; empty in multi-turn tasks, which name classes instead
	Gold      []Gold      // the expected calls in order; nil where none are expected or known

	// Of multi-turn tasks alone.
	InitialConfig json.RawMessage  // state of each class before the first turn
	Classes       []string         // classes whose functions are offered
	Path          []string         // functions on the way that the authors had in mind, as Class.function
	Missed        map[int][]string // by 0-based turn: functions that are offered from this turn on
	Excluded      []string         // functions that are not offered
}

// A Gold is one expected call. Options is a JSON object from parameter to the list of accepted values; the value ""
// in a list means that the parameter may be left out. In an accepted object each member has such a list too.
type Gold struct {
	Name    string
	Options json.RawMessage
}

// An Answer is one row of a gold file: Gold for tasks whose calls are compared, Turns for multi-turn tasks.
type Answer struct {
	ID    string
	Gold  []Gold
	Turns [][]string // Python calls as text, one list a turn, for [ParseCalls]; an empty list where no call is expected
}

// A Call is one function call of a model.
type Call struct {
	Name       string
	Arguments  json.RawMessage   // a JSON object; nil means no arguments
	Positional []json.RawMessage // arguments without a name, from call text; the checker passes over them, as the reference does
}

// An Output is what a model gave for a task.
type Output struct {
	ID     string
	Result json.RawMessage // any JSON value that [Decode] reads
}

// A Verdict says whether calls are what a task expects, and if not, why.
type Verdict struct {
	Valid  bool   `json:"valid"`
	Error  string `json:"error,omitempty"`  // kind of the fault, see the package comment; empty if valid
	Detail string `json:"detail,omitempty"` // the fault in words; not stable between versions
	Call   int    `json:"call"`             // 0-based index of the call at fault; -1 if valid or if no single call is
	Path   string `json:"path,omitempty"`   // JSON Pointer into the arguments of that call, at the argument; empty for the whole call

	// Calls is the number of calls that were read. It is 0 where the output is no list of calls.
	Calls int `json:"calls"`
	// Blank says that there are calls and that each has a required string argument without text: a question in the
	// clothes of a call. The comparison with gold does not look at it; irrelevance and relevance do.
	Blank bool `json:"blank,omitempty"`
}

// Options adjusts [NewChecker] and [Evaluate]. A nil *Options equals &Options{}.
type Options struct {
	// DotsToUnderscores expects a_b where the schema says a.b: for models whose interface allows no dots in names and
	// that were shown such names. The reference keeps a list of them; here the caller decides.
	DotsToUnderscores bool
}
