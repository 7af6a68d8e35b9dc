// Command bfcl scores function calls of a model on the Berkeley Function Calling Leaderboard, by comparing them with
// the gold answers as the leaderboard's own checker does.
//
//	go run ./examples/bfcl -data DIR -outputs FILE [-category NAME] [-dots] [-v N] [-json]
//	go run ./examples/bfcl -data DIR -gold [-short] [-category NAME] [-v N] [-json]
//
// DIR holds the question files BFCL_v4_NAME.json and possible_answer with the gold files of the same names, as in the
// leaderboard's repository; without -data it is the folder bfcl in $THROUGHLINE_DATA. FILE has a line of JSON for each
// answer, {"id": "simple_python_0", "result": ...}, and result is one of
//
//	[{"f": {"x": 1}}]                                    calls as the leaderboard's handlers decode them
//	[{"name": "f", "arguments": {"x": 1}}]               named calls
//	[{"type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]   tool calls of OpenAI
//	"[f(x=1)]"                                           Python call text
//
// or a string that holds one of these. Text that is none of them is an answer without calls. For Java and JavaScript,
// arguments are strings of source text, and call text is not of use.
//
// Without -category the categories are those in the ids of FILE, or with -gold all that have gold. The table has for
// each category its rows, how many were answered, how many are correct, the share of rows that are, and the most frequent
// faults; package midtool/bfcl explains their names. A row without an answer is not correct. Ids that belong to no task, or
// come twice, and tasks without an answer are told below the table; -v shows the first N failures with reasons, -json writes all of
// it as one object instead. -dots is for models that were shown a_b where the task says a.b.
//
// With -gold the gold answers themselves are scored, with -short without the parameters that may be left out. What
// fails then are tasks whose gold and schema disagree: no model can be right there, and failing ids are listed. For Java and
// JavaScript, gold with lists or objects is not written as source text and so not answered.
//
// Multi-turn and agentic categories are scored by running code and left out, as is the leaderboard's average over
// categories. Exit codes: 0 done, whatever the scores, 1 unusable input, 2 bad flags, 130 interrupted.
package main
