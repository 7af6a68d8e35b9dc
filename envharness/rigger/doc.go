// Package rigger searches for components that bring a task into reach of a policy, neither out of it nor too easy, and accepts only those of
// which it was shown that the task can still be solved, that nobody passes it who knows nothing, and that the success rate is no luck, and in
// whose episodes no cheat was seen.
//
// [Rig] works on the tasks of a [Problem], one after the other. A [Designer] proposes candidates, stacks of components as data; the registry
// of package components builds them, so that nothing else can get in. The policy is a black box.
//
// # The loop
//
// For each task, with the numbers of [Options]:
//
//  1. K rollouts on the unmodified task are the baseline. Package diagnosis finds flaws in them.
//  2. The [Objective] places the baseline. Where that is too hard the task is to become easier (a scaffold), where it is too easy harder; a
//     task that is within the objective is left alone.
//  3. The designer is told all of that in a [Brief], and proposes a [Candidate].
//  4. The gate checks the candidate, below. A screening of K1 fresh rollouts that is within the objective is followed by the confirmation;
//     one that missed makes the designer refine the candidate, milder or stronger, or the candidate is rejected.
//  5. After M attempts, or when one was accepted, the next task follows.
//
// Only what was accepted is an [Item] of the [Report]; every attempt is in it, with its steps, counts and costs.
//
// # The gate
//
// The steps, the cheap ones first, each with its reason; the first that fails ends the attempt:
//
//	static     the stack can be built, is of at most MaxComponents, and changes something
//	novelty    neither it nor one that differs in strength alone was accepted on this task, and its axis is not used up
//	band       there are counts that would be accepted, given the baseline
//	integrity  in the episodes that are played for it no cheat is seen, see below
//	start      every start is legal and unsolved
//	oracle     the oracle, a search or a replay passes through the whole stack; what is to be harder needs that proof
//	null       policies that know nothing fail
//	screen     K1 rollouts place it within the objective
//	confirm    K2 fresh rollouts do as well, with Wilson's interval at level 1 - Alpha/M, and the rate has not moved the wrong way
//	transfer   on request: what passes it also passes the unmodified task
//
// A confirmation ends as soon as no outcome of its other rollouts would be accepted, which changes no decision. Rollouts of a
// confirmation are never shown to a designer, nor what they counted, and serve for nothing but that decision.
//
// An error is a rejection, never an acceptance: of the designer, in a decision that is missing or unknown, or where infrastructure left
// fewer rollouts than were asked for. What infrastructure spoilt is played again and never counts as a failure of the policy.
//
// # Worlds
//
// Any world will do. Rig uses what its environments can do beyond [envharness.Environment]:
//
//   - [envharness.Describer]: what a designer is told of the world, whether it is deterministic, its limit on turns, the rate of chance
//   - [envharness.Oracle]: plans, as proofs, for the flaws of the policy, and for scaffolds where nothing has passed
//   - admissible actions, [envharness.Observation].Actions: the search for a solution, and one of the policies that know nothing
//   - [envharness.Stater], [envharness.Snapshotter] and [envharness.Rewinder]: to see that states stay the same, and for a faster search
//   - what components ask for: start_replay needs a Rewinder where there is a limit on turns, and a world whose text tells what the last
//     action led to should make its opening anew after it, as package sim does for a Narrator; start_patch needs a Snapshotter
//
// [envharness.TaskLister] is not needed: the tasks are those of the problem.
//
// # Source
//
// The loop is that of EnvRigger in EnvHarness (arXiv:2608.19880): observe, diagnose, write, validate; K, K1 and M are 5, the band is
// [0.4, 0.6]. The preset [Paper] is that loop alone, [PaperALFWorld] the rule of its released configuration for ALFWorld. The gate, the
// confirmation, the objectives besides difficulty, budgets and journal are ours, as is [Rules], the designer that needs no model.
//
// # What is shown and what is not
//
// For a policy whose rollouts are independent and of one success rate, the chance that an attempt is accepted is an exact sum over
// counts, and less where the rate must not move the wrong way, which is left out here. With the defaults, and in brackets for the screening
// alone, it is at most 0.0055 (0.081) for a rate of 0.1, 0.10 (0.26) for 0.2, 0.54
// (0.58) for 0.4 and 0.61 (0.63) for 0.5; for five attempts in a row 0.0008 (0.11) for a rate of 0.05, 0.027 (0.34) for 0.1, 0.42 (0.77)
// for 0.2 and 0.991 (0.993) for 0.5.
//
// That a task is proven means that somebody passed it through this stack. Unproven is not unsolvable: an easier candidate may be accepted
// without a proof, see [Item].Unproven, and none is called too hard without one. An interval says nothing about another version of the
// policy or another task. The gate guards against components and policies, not against a base that lies or a verifier that is wrong.
//
// The step of integrity plays scripted episodes behind the stack: calls of all tools, what the policy did on the unmodified task, the plan,
// and wrong calls. In them it sees whether a component fails; whether results, states and verdict are those that the same calls have
// without the components, as far as the world can be replayed; whether the same calls show the same again; and whether what is shown holds a
// value planted in the state, a graded value or a field of the state that the base has not shown, or an action of the plan, each as plain
// text, whatever the case of its letters; or names the next action of the plan, or lists it first, turn by turn. It also sees whether a call
// that writes is told to be carried out and did not come to the base, or was replaced by another one without a word.
//
// What the record of an episode shows of these (what is told of the plan and the state of the unmodified task, false success, replacements)
// is looked for in every rollout of the policy in the screening and the confirmation as well. One in which it is found ends the attempt with
// another, failed, step of integrity. What is told in a code or a paraphrase, or an observation that is merely wrong, is not seen; and that
// code which runs in this process does no harm, in other episodes than these or beside the hooks, cannot be shown. Let only kinds into the
// registry whose code you know.
//
// Success with an aid, [Item].Aid, is not success without it. That training on items raises success elsewhere is not claimed here.
//
// # Cost
//
// An attempt takes up to K1 + K2 rollouts of the policy, 21 with the defaults, and a task 5 + 5*21 at most; those of a confirmation that
// cannot be won are saved. With a reference policy that the objective uses it is twice that. The steps before the screening cost the world
// alone: some hundred episodes of scripted policies and SearchLimit states at most. Memory is that of the traces of one task, without those
// of confirmations, and one [Pair] for every task. What infrastructure spoilt and was played again is paid for as well, and comes on top: see
// [Budget].
//
// # Determinism and the journal
//
// All rollouts of a task have its seed, pinned in the report; each draws from a stream of its own, which follows from Options.Seed, the
// task, what the rollout is for and its number. With a policy and a designer that draw from nothing else, equal problems and options give
// reports with equal bytes, whatever Rollout.Parallel.
//
// A [Journal] keeps every rollout of policy and reference that could be judged and every answer of the designer as soon as it is there. A
// run that was interrupted is started anew with the same arguments and finds them there; it pays for none twice, and its report is that of
// a run that was not interrupted. Its keys name the world by what it says of itself, the components by tag, version and parameters, the policy by
// Fingerprint and the designer by its String method, without which Rig refuses a journal: change these when what is behind them changes.
package rigger
