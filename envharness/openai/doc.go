// Package openai puts a language model behind an OpenAI-compatible endpoint to work: as a policy that calls tools, as the generator func
// of packages midtool, skill and rigger, and as an embedder of package skill.
//
//	client, err := openai.New(openai.Options{BaseURL: "http://localhost:8000/v1", Model: "my-model"})
//	if err != nil {
//		return err
//	}
//	newPolicy := func(int) (envharness.Policy, error) { return client.Policy(nil), nil }
//	traces, err := envharness.Rollouts(ctx, game24.World(nil), nil, newPolicy, tasks, &envharness.RolloutOptions{Parallel: 8})
//	if err != nil {
//		return err
//	}
//	rate, err := envharness.SuccessRate(traces, len(tasks))
//	if err != nil {
//		return err
//	}
//	fmt.Println(rate, client.Usage().Cost)
//
// In front of the policy, package budget chooses what each request offers, within a budget of tokens:
//
//	newPolicy := func(slot int) (envharness.Policy, error) {
//		chooser, err := budget.New(2000, skills, &budget.Options{Pinned: []string{"combine"}})
//		if err != nil {
//			return nil, err
//		}
//		return client.Policy(&openai.PolicyOptions{Offer: chooser.Offer, Called: chooser.Called}), nil
//	}
//
// A chooser follows the episode of one policy, so each policy makes its own. Pin the tools that no task can do without, by Pinned in
// budget's options: a model cannot call what is not offered, and the episode that needs it fails.
//
// Other packages take the client's methods: skill.InduceOptions{Generate: client.Generate, Embedder: embedder}, where embedder is a
// client of a model for embeddings. Package openaitest is an endpoint for tests without a network.
//
// # Wire
//
// POST /chat/completions, in one body or as server-sent events, and POST /embeddings, as the public reference of OpenAI's API has them,
// sent with its official client, github.com/openai/openai-go/v3 v3.100.0. What goes out is what a strict server takes: names of tools are
// made of a-z, A-Z, 0-9, _ and -, at most 64 of them, one to one; ids are unique in a conversation and at most 40 characters long; the
// schema of each tool is that of an object with properties; arguments are JSON; each call is answered once, directly after it. What comes
// in is read as it is meant, for servers that say they are compatible differ: calls without an id, all with index 0 or without one;
// arguments as an object; content that is null, missing or in parts; no usage; "stop" as the reason with calls; a body in one piece where a
// stream was asked for, or the other way round; further fields, such as reasoning_content, which are neither kept nor sent back.
//
// # Failures
//
// Attempts that end with 408, 409, 429 or 5xx but 501, in time or in the middle, are repeated as a whole, after a wait that doubles, or as
// long as the server asks for with Retry-After; half an answer is never used. Others are not: 400, 401, 403, 404, 422 and 501, a quota that
// is used up, what is no answer at all, a redirect to another host, a name without an address, a certificate that does not fit. What fails
// for good is an [*Error], which is an [envharness.ErrInfra]: an episode is invalid then, and not a failure of the model. A model that
// refuses, answers without a call or calls what there is not has failed by itself; see [Policy].
//
// # Secrets
//
// Nothing is read from the environment, also no proxy, nothing is logged, and of this machine nothing is told but the name and version of
// the official client. The key, the values of headers, and the user and the query of the address are taken out of every error, also in
// base64 or as part of an address, if they have 4 bytes or more. From what a model says, and so from traces, they are taken out if they
// have 12 bytes or more; shorter ones are often words such as "ollama". Values of the usual headers of a client, such as User-Agent or
// Accept, are not looked for there. A key is sent unencrypted to this machine alone, unless [Options].AllowHTTP is set.
//
// # Guarantees, cost and determinism
//
// An answer is at most 16 MiB, of an error 64 KiB are read, and JSON is nested at most 1000 deep; what is more is an error. A client
// holds no goroutine between requests but those of idle connections of its transport, which end after 30 seconds, or as the caller's
// HTTPClient has it. A policy holds the conversation of one episode; each request sends it whole, so that an episode of n requests sends
// n/2 times the bytes of the last one, of which servers cache what does not change. With [PolicyOptions].Forget it is bounded by Context.
//
// Requests are the same bytes for the same turns and answers, and so are the waits between attempts, whose random part follows from the
// request. What a model answers is its own; [Options].Seed and Temperature ask for the same again, and no server promises it.
//
// The mapping of turns to messages, the reading of incomplete answers and the limits are ours.
package openai
