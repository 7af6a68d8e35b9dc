// Package components holds the 22 ready-made components for [envharness.New], and reads and writes stacks of them as data.
//
//	tag           type         axis  task   what it does
//	start_replay  Setup        S0    both   replays actions before the first turn; it is envharness.Setup
//	start_patch   StartPatch   S0    both   sets values in the state before the first turn
//	block         Block        A     both   refuses calls of some tools
//	rename        Rename       A     other  shows tools and arguments under other names
//	sticky        Sticky       A     harder repeats the action before now and then
//	tool_fail     ToolFail     T     harder lets some calls fail for a while, as a real API does
//	tool_down     ToolDown     T     harder lets all calls of some tools fail for good
//	corrupt_read  CorruptRead  T     harder shows a wrong value in some results of reads
//	rate_limit    RateLimit    A     harder limits the calls in a window of turns
//	permission    Permission   A     harder refuses calls until another action grants them
//	stale_read    StaleRead    O     harder shows the result of a read as it was some writes ago
//	paginate      Paginate     O     harder shows long results a page at a time
//	obs_noise     ObsNoise     O     harder disturbs fields of what is shown
//	obs_delay     ObsDelay     O     harder shows what was there some turns ago
//	hide_keys     HideKeys     O     harder leaves out parts of what is shown
//	distractor    Distractor   O     harder offers tools or documents that are of no use
//	step_budget   StepBudget   B     harder ends the episode after a number of turns
//	call_cap      CallCap      B     both   limits the calls of some tools
//	submit_gate   SubmitGate   A     both   refuses to submit until what is required was done
//	order_lock    OrderLock    A     both   refuses an action until another one was carried out
//	chain         EnvSpec      L     harder plays worlds one after the other
//	schema_drift  SchemaDrift  A     harder changes tools as a new version of an API does
//
// The task becomes harder, or either harder or easier (both), or only another one that may be harder (other). The chain is a world, made
// with [envharness.Link].
//
// A component is a struct, and its exported fields are the params in its record; it must not be changed once it was given to
// envharness.New. Fields may be added, so write the field names in a literal. A parameter out of range is reported by envharness.New.
//
// Each is deterministic, given the seed of the episode and its id, and keeps no state from one episode to the next. None can change what
// counts as success, but each can make a task unsolvable: its comment says when it is sound, which is for the caller to see to. Tools are
// chosen by patterns as of [path.Match] over tool names as seen at the component's place in the stack; no patterns mean all tools, or all
// of the sort that the component is about. Turns are counted from 0; see [Window].
//
// The axis places a component in a stack: S0 inside, then A, T and O in any order, then B; see [envharness.Axis].
//
// # Registry and specification
//
// A [Registry] maps tags to components, with what they do, their axis, direction, condition of soundness, JSON Schema
// and a ladder of parameters from mild to strong. It is a value: [Catalogue] makes one with all of the above, [Registry.Add] and
// [Registry.AddWorld] add one's own, and nothing is registered by importing a package. [Registry.Stack] makes components of data, and
// [Registry.Entries] data of components. In print each component says in words what it does with its parameters, as [Registry.Words] does.
//
// A [Spec] is a JSON file that says which world, which stack and which task. [Registry.Decode] refuses all that it does not know, and
// names the place. A file and its stack are the same thing twice: what was decoded encodes to the canonical form of the file, and what
// was encoded builds a stack with equal traces.
//
// # Source
//
// The catalogue follows EnvHarness (arXiv:2608.19880) in its idea, where a Stage is the start, a Contract the rules and a Chain the link;
// the components, their parameters and the file are ours.
package components
