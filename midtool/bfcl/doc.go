// Package bfcl checks function calls against the gold answers of the Berkeley Function Calling Leaderboard, with the
// verdicts and kinds of fault of its reference checker. It needs nothing else of this module's pipeline: use it to
// score calls of any model, on the leaderboard's tasks or on tasks of one's own in the same form.
//
// # Steps
//
// [ReadTasks] and [ReadAnswers] read the files, [Join] puts gold into tasks, [NewChecker] prepares a task once, and
// [Checker.Check] or [Checker.CheckOutput] judges calls or raw output, as often as wanted. [Evaluate] does this for many tasks
// and counts by category. [Task.GoldCalls] feeds gold back, which shows tasks that contradict themselves, and
// [ParseCalls] reads the Python calls of multi-turn gold.
//
// # Rules
//
// A call is compared by the name of its function, then by the arguments that the schema requires, then argument by
// argument in the order of the output, and last by what gold expects and the call lacks. Each argument must have the type of the schema,
// or that of the accepted values where these have another type: they then stand for a variable and are compared as they are. The types
// are Python's: 5 is an integer and no float but where the schema says float, 5.0 is never an integer, true is no
// integer, and elements of a list are never converted. Then the value must be accepted:
//
//   - strings in lower case without spaces and , . / - _ * ^, with single quotes as double quotes;
//   - lists in order, their strings so folded; the accepted value "" stands for an empty list;
//   - objects member by member against lists of accepted values of their own, one level deep; lists of objects by position;
//   - everything else as Python's == has it: 1, 1.0 and true are equal, deep, whatever the order of keys.
//
// Parallel calls match in any order, each expected call taking the first call left that fits. See [NewChecker] for
// what decides that calls are parallel.
//
// # Kinds of fault
//
// [Verdict.Error] is one of these; the first five groups are the reference's own words.
//
//	simple_function_checker:  wrong_count, wrong_func_name, missing_required, unexpected_param, missing_optional
//	multiple_function_checker: wrong_count
//	parallel_function_checker_no_order: wrong_count, cannot_find_match
//	type_error:  simple, nested, java, js
//	value_error: string, others, list/tuple, list_dict_count, dict_key, dict_value
//	dict_checker:unclear, list_dict_checker:unclear    no accepted value is an object
//	irrelevance_error:decoder_success, relevance_error:decoder_failed    a call where none is wanted, and the reverse
//	format       the output is no list of calls
//	blank_call   irrelevance and relevance: all calls have a required string argument without text; neither a call nor silence (ours)
//	exception    the reference would raise: an unknown type word, a gold function that is not offered, gold of a wrong shape (ours)
//
// # Source
//
// The rules are those of ast_checker in ShishirPatil/gorilla, berkeley-function-call-leaderboard, BFCL v4, restated and
// implemented anew, with its peculiarities: greedy matching, folding that equates "1.5" and "15", faults of objects
// that hide one another. Not all of its results mean what they seem to: gold and schema disagree in some rows, and gold was made by
// people for one set of requests. Where it differs: a schema without "required" or "properties" counts as having
// empty ones, tuples in call text are lists, NaN and numbers beyond float64 are refused, and a name is checked against the
// caller's [Options] where the reference has a list of models. Multi-turn and agentic tasks are read and not scored:
// their scores come from running code.
//
// # Cost, determinism
//
// Checking takes time linear in the output for a given task and allocates little besides the parsed output; outputs
// are bounded at 64 MiB and 64 levels. Nothing depends on the order of maps, on time or on chance, and no input panics.
package bfcl
