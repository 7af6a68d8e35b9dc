// Package loop runs an agent that works on a task subtask by subtask, uses the skills of a memory and adds what it learns:
// the agent of arXiv:2608.20274 ("Break It Down, Pass It On: Cross-Task Skill Transfer in LLM Agents").
//
// [Run] drives three roles, a [Planner], an [Executor] and a [Summarizer], each of one method and usually a language model
// with a prompt of the caller's. Without a planner it is the paper's agent of the task level. The prompts of the paper are
// not part of the package, and nothing is claimed about success rates.
//
// The cost is that of the roles, plus one retrieval, one induction and one addition to the memory per subtask. Run is as
// deterministic as its roles.
package loop
