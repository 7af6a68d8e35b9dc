// Package budget chooses what a policy is offered in each turn, tools and skills, under one token budget: it joins the packages
// envharness and bps.
//
// A policy that is a language model pays for every tool that a request lists, whether it is of use or not, and confuses tools where there
// are many. [Chooser.Offer] lists those that the turn calls for, found by their words. It has the signature that
// envharness/openai.PolicyOptions.Offer asks for, serves any loop that builds requests itself, and [Chooser.Policy] puts it in front
// of any other policy. Neither a model nor a network is needed.
//
//	newPolicy := func(slot int) (envharness.Policy, error) {
//		chooser, err := budget.New(4000, skills, &budget.Options{Pinned: []string{"get_order"}})
//		if err != nil {
//			return nil, err
//		}
//		return client.Policy(&openai.PolicyOptions{Offer: chooser.Offer, Called: chooser.Called}), nil
//	}
//	traces, err := envharness.Rollouts(ctx, world, nil, newPolicy, tasks, &envharness.RolloutOptions{Parallel: 8})
//
// A chooser follows one episode at a time, so each policy makes its own. Pin what no task can do without: a task whose tool is not
// offered is lost, however good the policy is, and the verdict is the policy's.
//
// # Method
//
// All is offered, in order and without a search, where it fits into the budget and tokens have no penalty. Else the texts are the skills
// and the tools of the turn, a tool being read by its name, its description, and the names, descriptions and constants of its JSON Schema,
// and [bps.Index.Select] chooses among them. Tools come first: where all tools of the turn fit, together with the pinned skills, and
// tokens have no penalty, all of them are offered, and the other skills compete for what they leave. A skill helps, but a tool that is
// missing can be all that a task needs. Where the tools do not all fit, tools and skills compete with each other. The query is:
//
//   - The task, which is what the first turn shows, with all its clauses. Data["task"] of the observation belongs to it; where that
//     changes, as on a new leg of [envharness.Link], what this turn shows is the task from then on.
//   - What the turn shows, the refusal of the action before it first, as one clause and with its first 64 words: enough to follow
//     the episode, and too little for a long listing to drown the task.
//
// Chosen in any case are the tools that may end the episode ([envharness.Tool].Submits), those of [Options.Pinned], and the pinned
// skills; where they do not fit, that is an error which names them. Tools that were called ([Chooser.Called]) are chosen as well, the
// latest call first, while they take no more than half of the room that is left: a call is often repeated, with the next page or a mended
// argument. If no text that fits has a word of the query and tokens have no penalty, the tools are offered from the first on while they
// fit, as many as a search would look at: without a clue, the order of the environment is the best there is.
//
// # Stability
//
// A changed list of tools costs the prompt that the server has cached. So the choice of the turn before stays, to the byte, while
// its objective for the present query is at least [Options.Stay] of that of the best choice found, it still fits, its tools are still
// there, and it has what is chosen in any case. Where all tools are offered, the share is of what skills add to them: the worth of tools
// that are there anyway must not hide that another skill is needed. These rules, the query and the halving are ours; the search is that of
// arXiv:2608.19993.
//
// # Budget
//
// What counts is what a request has: the tools as one JSON array in the form of the chat completions API, each with name, description and
// parameters, and the instructions as one text. A server may write them in another form for its model, most in a shorter one. The
// counter is [bps.EstimateTokens] unless there is a better one; it is meant to err high. The whole is counted before it is offered, so
// it is at most the budget for every counter, even one that does not add up. History and observations are not counted: the budget is
// what remains for tools and skills beside them.
//
// # Guarantee
//
// The objective of a choice F is bps's: for every set T of texts in the scope of [bps.Selection].Guarantee that fits and has what was
// chosen in any case, F is at least that guarantee, times Stay where the choice stayed. Where all tools are offered, they are part of T,
// so that the factor, and Stay, are about what skills add to them; a set that has skills in place of a tool may have a larger F. It is
// about the benefit that words make, not about success. As everywhere in bps, nothing is guaranteed where a recheck had to take texts
// out, nor where no word matched.
//
// # Cost and determinism
//
// The texts are read and counted once for each distinct list of tools, 1,000 tools in some 12 ms and 4,000 in 50; the four latest lists are
// kept. A further turn compares the tools with the list and searches among TextOptions.Keep candidates: 2 to 4 ms for 100 to 4,000 tools
// (go test -bench Offer). No certificate is made unless the search options ask for it.
//
// The result depends on the turns and calls of the episode and on the arguments of [New] alone; a turn with Index 0 starts afresh. To offer
// the same turn again gives the same.
package budget
