// Command credit gives credit to rollouts: it reads them as JSON lines, our trajectories or the flat rows with masks that
// trainers in Python hold, and writes them back, in the same order, with advantages and targets of a named estimator. A
// trainer in any language can so use MileGPO, SAPO and the other estimators of packages rl and rl/token.
//
//	go build ./examples/credit
//	credit -list
//	credit -method NAME [-options JSON] [-in rows|trajectories] [-lenient] [-diagnostics] [-dot FILE] [FILE ...] < in.jsonl > out.jsonl
//	credit -method NAME -batches ...
//
// The same input gives the same bytes. Exit codes: 0 done, 1 failed, 2 bad flags or options, 130 interrupted. Errors name
// the file, or stdin, and the line.
//
// # Rows
//
// One JSON object a line, for a trajectory or, with the same id and different step, for one of its turns; masks are 0 and 1,
// or false and true. From these lines of two turns each
//
//	{"id":"a","group":"t1","mask":[0,1,1,0,1],"states":["start","door"],"turn_rewards":[0.0,1.0],"seed":7}
//	{"id":"b","group":"t1","mask":[0,1,0,1,1],"states":["start","door"],"turn_rewards":[0.0,0.0],"seed":8}
//
// -method gigpo -options '{"Norm": {"Std": "none"}}' makes
//
//	{"id":"a","group":"t1","mask":[0,1,1,0,1],"states":["start","door"],"turn_rewards":[0.0,1.0],"advantages":[0.0,0.975,0.975,0.0,1.0],"turn_advantages":[0.975,1.0],"seed":7}
//	{"id":"b","group":"t1","mask":[0,1,0,1,1],"states":["start","door"],"turn_rewards":[0.0,0.0],"advantages":[0.0,-0.975,0.0,-1.0,-1.0],"turn_advantages":[-0.975,-1.0],"seed":8}
//
// The columns that are read are these. Which of them an estimator needs besides mask and rewards, -list says.
//
//	id, group                  text; group is the same for rollouts that are compared: one task, one first state
//	step                       number of this row among those of its id, where a row is not a whole trajectory
//	mask                       per token, whether the policy wrote it and is trained on it
//	turns                      per token, its turn in this row, from 0; without it each 0 of mask after a 1 begins a turn, but
//	                           not at the end, where padding stands
//	rewards or turn_rewards    per token, of which each turn has the sum, or per turn
//	values                     per token, of a critic of tokens
//	turn_values, turn_qvalues  per turn, V and Q of a critic of turns
//	states                     per turn, text: the key of the state in which it began; equal keys are compared
//	invalid, excluded          per turn: the action could not be carried out; no vote
//	final_state, final_value   of the state after the last turn: its key; its value, used after a truncation
//	end                        terminated, which is the default, or truncated
//	success                    the verdict; without it a score above 0 is a success
//	drop                       text: why the trajectory does not count
//	logprobs, ref_logprobs     per token, used with the option KLPenalty
//	ids, task, split           not used
//
// and those that are written, in place of earlier ones:
//
//	advantages                 per token, 0 where mask is
//	returns                    per token, target of a critic of tokens; from token-gae and ppo-published
//	turn_advantages            per turn
//	value_targets, q_targets   per turn; from sapo and turn-gae, q_targets from sapo alone
//	no_vote                    text, if the trajectory has no vote: why; do not train on it
//
// Columns under other names come back unchanged, so a misspelt one is ignored; it is an error if no row of a batch has a
// column that the estimator needs, unless -lenient is given. Warnings on standard error, which change nothing, tell of what is
// seldom meant: groups of one, equal ids without step, a batch without any success, or with nothing else. NaN and Infinity are errors: write 0 where mask is 0. Columns that are null or
// empty are left out, and those that are read come first. Package rl/token says more.
//
// # Trajectories
//
// Where the first line has turns but no mask, the lines are those of rl.WriteTrajectories, such as
//
//	{"id":"a","group":"t1","turns":[{"state":"start","tokens":[{"id":5},{"id":6,"trainable":true}]},{"state":"door","tokens":[{"id":7,"trainable":true}],"reward":1,"end":"terminated"}]}
//	{"id":"b","group":"t1","turns":[{"state":"start","tokens":[{"id":8,"trainable":true}]},{"state":"door","tokens":[{"id":9,"trainable":true}],"end":"terminated"}]}
//
// and for each there is one line with its id and the columns that are written to rows. Advantages and returns are then about
// all its tokens, turn by turn. The same command makes
//
//	{"id":"a","advantages":[0.0,0.975,1.0],"turn_advantages":[0.975,1.0]}
//	{"id":"b","advantages":[-0.975,-1.0],"turn_advantages":[-0.975,-1.0]}
//
// # Options
//
// Each line of -list has a method, the columns that it needs besides mask and rewards, its options with the values that they
// have without -options, and the Go type whose documentation explains them; null stands for a default that is told there.
// What -options leaves out keeps its value. Norm is an object: {"Norm": {"Std": "none"}}.
//
// # Batches
//
// Groups, states and norms are compared within a batch, so everything of one iteration of a trainer belongs into one. The
// whole input is one batch; all files together are. With -batches an empty line ends it: its rows are written, then an empty
// line, and the next batch can follow in the same process. A batch without rows is answered with an empty line.
//
// Nothing is written before a batch has been read, so that a caller may write all of it before reading, and nothing of a
// batch that fails: the process then ends with exit code 1. A batch is held in memory, at some 100 to 200 bytes for each token
// and 300 for each turn, with milegpo up to 900; a line has at most 64 MiB. An interrupt ends the process, a second one even while
// nobody reads its output. -diagnostics writes one rl.Diagnostics as JSON to standard error before the rows of each batch. -dot draws
// what MileGPO saw, one graph a group.
//
// # From Python
//
//	import json, subprocess
//
//	class Credit:
//	    """Credit("-method", "milegpo")(rows) returns rows, dicts of lists (arrays: use tolist), with credit."""
//
//	    def __init__(self, *flags, program="./credit"):
//	        self.process = subprocess.Popen([program, "-batches", *flags], encoding="utf-8",
//	                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
//
//	    def __call__(self, rows):
//	        lines = [json.dumps(row, allow_nan=False) + "\n" for row in rows]
//	        try:
//	            self.process.stdin.write("".join(lines) + "\n")
//	            self.process.stdin.flush()
//	        except BrokenPipeError:
//	            pass  # it has ended
//	        result = []
//	        for line in self.process.stdout:
//	            if line == "\n":
//	                return result
//	            result.append(json.loads(line))
//	        raise RuntimeError(f"credit ended with code {self.process.wait()}; standard error says why")
//
//	credit = Credit("-method", "gigpo")
//	rows = [{"group": "t1", "mask": [0, 1, 1], "states": ["start"], "rewards": [0, 0, r]} for r in (0, 1)]
//	for iteration in range(2):
//	    print([row["advantages"] for row in credit(rows)])
package main
