// Package tooldesk is a small tool-use world: a service desk with customers, products, orders, tickets and transfers in
// memory, 13 tools, and 1,760 tasks whose outcome is judged by the final tables.
//
// It is made in the manner of tau2 (arXiv:2506.07982): an agent gets a customer's message, reads and writes through
// tools under the rules of a shop, and is judged by the end state of the database and by what it answered. World,
// rules, texts and tasks are ours; no data of tau2 are used, there is no simulated user to talk to, and results here
// say nothing about results there.
//
// # Tasks
//
// An id such as "T3-0042" is a family and a number, and everything about a task follows from its id. Each world has 8
// customers, 20 products of 4 families, 30 orders and 12 tickets.
//
//   - T1 cancel a pending order, T2 change its address, T3 exchange an item of a delivered order, T4 refund a delivered
//     order. In T1 and T2 the message may describe the order instead of naming it.
//   - T5 find a ticket, do what it asks for and close it.
//   - T6 two of T1 to T4 about two orders of one customer.
//   - T7 a request that the rules forbid, in the words of T1 to T4: the facts have to be read, and the request
//     transferred with the right reason.
//
// T1 to T5 and T7 make up the splits train (numbers 0 to 199), validation (200 to 239) and test (240 to 279). T6 makes
// up the split ood (0 to 79), whose customers, streets, towns, brands and product families have names that occur in no
// other split. One task in six is T7, so a policy that always transfers can pass no more than that.
//
// # Calls
//
// Every observation lists candidate calls: each tool with every argument filled from values that the texts of the
// episode have shown, the newest first, at most 8 a tool. A policy can choose among them without ever writing a name,
// so new names are playable; calls outside the list work as well. A candidate is always well formed and names what
// exists, but the rules may still refuse it.
//
// A refused call changes nothing and uses up a turn. The classes are unknown_tool, bad_args (the JSON Schema of the
// tool is broken), not_found, precondition (a conflict with the present state) and permission (a write to the data of a
// customer who has not been looked up with find_customer). Checks run in that order, permission before precondition.
//
// # Verdict
//
// The verifier replays the logged calls on a fresh world and compares the tables with those after the gold actions
// (part db; the wording of a ticket's note is free), then looks for the required words in the submitted answer (part
// comm; whole words, letter case aside). The score is the product. A task passes only if something was written, so
// doing nothing, or submitting at once, fails on every task. The log must lead to the recorded end state, else the
// verdict is an error.
//
// # Cost
//
// The world is deterministic: an episode is a function of the task id and the calls. To make a task takes on the order of 150
// microseconds, a call of 5, candidates included. What [World] returns makes each task once and keeps it, about 38 kB each and 67 MB for
// all 1,760; a desk of [New] keeps only the one that it plays.
//
// A snapshot tells an episode by its task and its calls, which [Desk.Restore] carries out again. Nothing in it can be set by a component:
// all tables are graded.
package tooldesk
