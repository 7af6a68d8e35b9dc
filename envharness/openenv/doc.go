// Package openenv speaks the wire of OpenEnv: it serves environments over HTTP and WebSocket to trainers in any language, and drives those
// that others serve.
//
// Ten lines serve a world, here with one component around it:
//
//	world := game24.World(nil)
//	server, err := openenv.NewServer(func(ctx context.Context) (envharness.Environment, error) {
//		return envharness.New(world, components.StepBudget{Turns: 6})
//	}, &openenv.ServerOptions{Sessions: 16})
//	if err != nil {
//		return err
//	}
//	return http.ListenAndServe("localhost:8000", server)
//
// and a Python program plays in it with the reference's client (pip install openenv-core):
//
//	import asyncio
//	from openenv.core.generic_client import GenericEnvClient
//
//	async def main():
//	    async with GenericEnvClient(base_url="http://localhost:8000") as env:
//	        result = await env.reset(seed=7, episode_id="3,3,8,8")
//	        while not result.done:
//	            action = result.observation["actions"][0]
//	            result = await env.step(action)
//	        print(result.reward, result.observation["terminated"])
//
//	asyncio.run(main())
//
// # The wire
//
// It is that of github.com/meta-pytorch/OpenEnv at commit 685de411 (May 2026), in our words. A session is a WebSocket at /ws with an
// environment of its own, over which JSON texts go back and forth, one answer for each message, in order:
//
//	{"type":"reset","data":{"seed":7,"episode_id":"3,3,8,8"}}  {"type":"observation","data":{"observation":{..},"reward":null,"done":false}}
//	{"type":"step","data":{"name":"stop","args":{}}}           {"type":"observation","data":{"observation":{..},"reward":0.0,"done":true}}
//	{"type":"state"}                                           {"type":"state","data":{"episode_id":"..","step_count":1,"state":{..}}}
//	{"type":"mcp","data":{"jsonrpc":"2.0",..}}                 {"type":"mcp","data":{"jsonrpc":"2.0",..}}
//	{"type":"close"}                                           the farewell of the WebSocket
//
// What goes wrong is {"type":"error","data":{"message":"..","code":".."}}. After INVALID_JSON, UNKNOWN_TYPE, VALIDATION_ERROR (with errors)
// and EXECUTION_ERROR (with a class, ours) the session goes on; CAPACITY_REACHED (with active_sessions and max_sessions), FACTORY_ERROR
// (with factory_name) and SESSION_ERROR end it. Fields that a message does not have are VALIDATION_ERROR.
//
// The same over HTTP, without the envelope: POST /reset and /step and GET /state. As in the reference each request has a fresh
// environment, so that an episode needs a session. One that is fresh has no episode to step in: /step first resets it, as the fields
// seed, episode_id and so on beside action say (ours). GET /metadata, /schema and /health tell about the server, and POST /mcp is for
// tools.
//
// # What is ours within it
//
//   - An action is {"name","args"}. Arguments that are no object are handed on: it is the environment that refuses them, as a turn. The
//     reference's client for tools (MCPToolClient) is understood as well: a step with {"type":"call_tool","tool_name","arguments"} is
//     answered with tool_name, result, whose data is the text, and error beside the rest, and {"type":"list_tools"} with tools.
//   - An observation has text, data, terminated, truncated and reason, and where there are such error, actions, info, tools and turn_limit,
//     for the wire drops whatever stands elsewhere. done means terminated or truncated. An action that the world refused is no error of the
//     wire: error in the observation says why.
//   - episode_id names the task. A trainer that wants ids of its own there names it with task, and the default task with an empty one.
//     All other fields of a reset are the environment's options ([envharness.ResetOptions].Options). A seed is an integer from 0 to 2^64-1.
//   - The verdict is never told, and the state only with [ServerOptions].ExposeState; else "state" is UNKNOWN_TYPE and /state is 404.
//   - tools/list works at any time and tools/call is a step, whose reward is not told.
//   - After a failed call the episode is given up: the next step is EXECUTION_ERROR with class need_reset.
//
// # The server
//
// It holds at most [ServerOptions].Sessions environments, requests over HTTP included, and for each at most two messages in and one out.
// Lengths and nesting are checked before anything is decoded. A session from which no message comes in time is ended, pings or not; a
// client that does not take its answer in ten seconds is cut off; one that leaves in mid-step has the step canceled. An environment that
// fails or panics costs a client an EXECUTION_ERROR whose words are fixed: no text of an error, type, path or stack crosses the wire,
// only [ServerOptions].Failed hears of it. A call that is late is canceled; if it does not return a second later its environment is
// closed under it, and if that does not help either the session ends and its slot stays taken until the call returns.
//
// The server itself checks no identity: put a handler that does in front of it where not everybody may play. Timeouts for the headers of
// requests are those of the [http.Server] around it. Nothing is logged.
//
// # The client
//
// [Open] finds out what the server is. One of ours is driven as described, and an episode has the same trace, to the byte, as in
// process. One of the reference's is driven by its tools if it has some, else by a single tool "act" whose arguments are the fields of
// its action, as /schema describes them. Where an observation has no terminated and truncated, done counts as terminated, and the
// transition's Info has done_unknown; a reward of null counts as 0 with reward_unknown. All of such an observation is data, and its text
// is the field text, or else the whole as JSON.
//
// A server that stalls, vanishes, or breaks the protocol is an [envharness.ErrInfra]: the episode becomes Invalid, neither passed nor
// failed. The protocol numbers no messages; an answer that nobody asked for is found out unless it comes just when another is awaited. What
// a server says in error messages is never repeated, as it may quote headers; see [Error].
//
// # Cost and determinism
//
// Two goroutines for each session and one for each client, and one more for each call that runs; about 60 KB for an idle session with its
// client, connections included. A step costs a round trip and writing and reading one document, linear in its length. Answers depend on the
// environment and the messages alone; the clock is read for timeouts.
package openenv
