// Package stdio connects environments in any language by lines of JSON on standard streams: [Serve] serves an environment, and [Open]
// drives the environment that a program serves.
//
// # Protocol
//
// Protocol 1 is ours. A message is one JSON object in UTF-8 on a line of at most 4 MiB, ended by a line feed, nested at most 1,024
// deep. One side asks and the other one answers, in order; standard output is for answers only. An answer has the id of its request and
// either ok or error:
//
//	{"id":1,"op":"hello","protocol":1}
//	{"id":1,"ok":{"protocol":1,"env":"guess","capabilities":{"state":true},"tools":[{"name":"guess"}],"max_turns":8}}
//	{"id":2,"op":"reset","task":"easy","seed":7,"options":{}}
//	{"id":2,"ok":{"obs":{"text":"Guess.","data":{}},"seed":7}}
//	{"id":3,"op":"step","action":{"name":"guess","args":{"n":4}}}
//	{"id":3,"ok":{"obs":{"text":"Higher."},"reward":0,"terminated":false,"truncated":false,"reason":"","info":{}}}
//	{"id":4,"op":"state"}
//	{"id":4,"ok":{"state":{"goal":5}}}
//	{"id":5,"op":"reset","task":"hard"}
//	{"id":5,"error":{"code":"ErrNoTask","message":"there is only easy"}}
//
// Three operations are needed, hello, reset and step. What else a program can do it tells in its capabilities, and is asked for nothing
// that it did not tell; each one is an optional interface of package envharness:
//
//   - observe: {"op":"observe"} is answered with obs
//   - state: {"op":"state"} with state, an object; it is for the owner of the program and is shown to no policy
//   - tasks: {"op":"tasks","split":"train"} with tasks, a list
//   - rewind: {"op":"rewind"}, which sets counters to zero, with {}
//   - snapshot: {"op":"snapshot"} with snapshot, an object, and {"op":"restore","snapshot":{}} with {}
//   - plan: {"op":"plan"} with actions, a list
//   - tools: answers to reset have tools, and those to step, rewind and restore where they changed
//   - turn_limit: answers to reset, rewind and restore have turn_limit
//
// {"op":"close"} is answered with {} and ends the program, as the end of its input does. The client uses the latter.
//
// The objects have the fields of the types of package envharness as those are written in JSON: obs of [envharness.Observation], the
// answer to step of [envharness.Transition], with obs instead of observation, tools of [envharness.Tool] and so on; the answer to hello
// those of [envharness.Description], with env instead of name. In the answer to reset, obs must be there, and a seed must be the one that
// was asked for; an info is dropped. In that to step, obs, reward, terminated and truncated must be there. Unknown fields and operations
// are errors on both sides; of repeated keys the last one counts. Seeds have 64 bits, more than a JavaScript number.
//
// A task, a seed and options are left out where there are none. Args are left out or an object, but for arguments of a policy that are no
// JSON object: those are a string with their text, so that the environment can refuse them as bad_args, which takes a turn. Names and such
// texts are cut at 256 KiB; an object of more than 1 MiB is sent as such a text.
//
// The code of an error is the name of an error of package envharness, such as ErrNeedReset, ErrEpisodeOver, ErrSeedUnsupported or
// ErrNoTask; whatever else fails is ErrInfra. A line that cannot be read is answered with ErrBadMessage, and with the id null if it has
// none. The message is for people who own the program: [Error] keeps it apart.
//
// # An environment in Python
//
// This is a whole program, for Python 3.9 or later, which the tests run and package envtest finds nothing wrong with. What such a program
// prints for people goes to sys.stderr. A bug in it ends it with a traceback there, which [Command].Stderr shows, and the episode is Invalid.
//
//	import json, random, sys
//
//	GUESS = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}},
//	         "required": ["n"], "additionalProperties": False}
//	rng, goal, turn, won = random.Random(1), None, 0, False
//
//	class Told(Exception):  # an error that the other side knows by its code
//	    pass
//
//	def answer(op, seed=None, action=None, **_):
//	    global rng, goal, turn, won
//	    if op == "hello":
//	        return {"protocol": 1, "env": "guess", "capabilities": {"state": True}, "max_turns": 8, "deterministic": True,
//	                "tools": [{"name": "guess", "input_schema": GUESS, "submits": True}], "graded": ["goal", "won"]}
//	    if op == "reset":
//	        rng = rng if seed is None else random.Random(seed)
//	        goal, turn, won = rng.randint(1, 9), 0, False
//	        return {"obs": {"text": "Guess a number from 1 to 9."}}
//	    if op == "state":
//	        return {"state": {"goal": goal, "won": won}}
//	    if goal is None or won or turn == 8:
//	        raise Told("ErrNeedReset" if goal is None else "ErrEpisodeOver")
//	    turn += 1
//	    reply = {"obs": {"text": "No."}, "reward": 0, "truncated": turn == 8, "reason": "max_turns" if turn == 8 else ""}
//	    args = action.get("args")
//	    if action["name"] != "guess":
//	        reply["error"] = {"class": "unknown_tool", "message": "the tool is guess"}
//	    elif not isinstance(args, dict) or list(args) != ["n"] or type(args["n"]) is not int:
//	        reply["error"] = {"class": "bad_args", "message": "n must be an integer"}
//	    else:
//	        won = args["n"] == goal
//	        reply.update({"obs": {"text": "Yes." if won else "Higher." if args["n"] < goal else "Lower."}, "reward": int(won)})
//	    return reply | {"terminated": won}
//
//	for line in sys.stdin:
//	    q = json.loads(line)
//	    try:
//	        reply = {"ok": answer(**q)}
//	    except Told as e:
//	        reply = {"error": {"code": str(e), "message": ""}}
//	    print(json.dumps(reply | {"id": q["id"]}), flush=True)
//
// # Guarantees
//
// What the program writes can make an episode wrong in no way that its environment could not: the verdict is the caller's, and all that is
// not an answer as above ends the episode as Invalid, as do its death and its silence. One call holds one message of 4 MiB and what is
// decoded from it. Nothing of a program is in an error but the base name of its file, the way it ended, and what this package says of
// its answers; a trace has in it what the environment showed. On both sides equal calls give equal bytes.
//
// # Limits
//
// Text that is not UTF-8 arrives with U+FFFD in its place, arguments and states without the spaces between their tokens. Reward and other
// numbers are those of JSON. What a program leaves behind outside of its process group is not found, and on Windows nothing of what it
// started is: see [Command].Grace. A program is started for each environment, and one more for the replay of each episode of a
// deterministic one; a call costs two copies through a pipe, some tens of microseconds.
package stdio
