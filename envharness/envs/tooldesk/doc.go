// Package tooldesk is a small tool-use world: a service desk with customers, products, orders, tickets and transfers in
// memory, 13 tools, and 1,712 tasks whose outcome is judged by the final tables.
//
// It is made in the manner of tau2 (arXiv:2506.07982): an agent gets a customer's message, reads and writes through
// tools under the rules of a shop, and is judged by the end state of the database and by what it answered. World,
// rules, texts and tasks are ours; no data of tau2 are used, there is no simulated user to talk to, and results here
// say nothing about results there.
//
// # Tasks
//
// An id such as "T3-0042" is a family and a number, and everything about a task follows from its id; a seed changes nothing. Each world has
// 8 customers, 20 products of 4 families, 30 orders and 12 tickets.
//
//   - T1 cancel a pending order, T2 change its address, T3 exchange an item of a delivered order, T4 refund a delivered
//     order. In T1 and T2 the message may describe the order instead of naming it.
//   - T5 find a ticket, do what it asks for and close it.
//   - T6 two of T1 to T4 about two orders of one customer.
//   - T7 a request that the rules forbid, in the words of T1 to T4: the facts have to be read, and the request
//     transferred with the right reason.
//
// T1 to T5 make up the splits train (numbers 0 to 199), validation (200 to 239) and test (240 to 279), together with T7, of which there are
// fewer: 0 to 165, 200 to 232 and 240 to 272. As many as of the others would be one task in six; so it is 166 of 1,166, 33 of 233 and 33 of
// 233, less than one in seven, and a policy that transfers everything cannot pass more than that. T6 makes up the split ood (0 to 79), whose
// customers, streets, towns, brands and product families have names that occur in no other split.
//
// # Calls
//
// Every observation lists candidate calls: each tool with every argument filled from values that the texts of the
// episode have shown, the newest first, at most 8 a tool. A policy can choose among them without ever writing a name,
// so new names are playable; calls outside the list work as well. A candidate is always well formed and names what
// exists, but the rules may still refuse it: a list that left those out would tell what nobody has read.
//
// The text of an observation is the reply as compact JSON, {"error":{"class":..,"message":..}} after a refusal. A refused call changes
// nothing and uses up a turn. The classes are unknown_tool, bad_args (the JSON Schema of the tool is broken), not_found, permission (a write
// to the data of a customer who has not been looked up with find_customer) and precondition (a conflict with the present state). Checks run
// in that order. A submit ends the episode, turn [MaxTurns] without one truncates it. The reward is 1 for a submit that passes, else 0.
//
// # Verdict
//
// The verifier replays the logged calls on a fresh world and compares the tables with those after the gold actions
// (part db; the wording of a ticket's note is free), then looks for the required words in the submitted answer (part
// comm; whole words, letter case aside). The score is the product. A task passes only if something was written, so
// doing nothing, or submitting at once, fails on every task. The log must lead to the recorded end state, else the
// verdict is an error.
//
// # The small desk
//
// With [Options].Small the same rules, tools, families and splits make a desk for studies of learning, "tooldesk_small": 2 customers, 4
// products, 4 orders and 2 tickets, ids such as "small-T3-0042", at most 12 turns and about 10 candidates a turn (25 at most for a
// policy that keeps to them). Amounts are multiples of 10. The text is a state and enough to act on, the message and below it what was
// learned so far, newest reads only, in at most 40 words:
//
//	ann: swap o1 kettle2 for kettle1
//	c2
//	o1 c2 delivered kettle2 20 left 20
//	kettle1 stocked
//
// All its words are in the Vocabulary of the description. Its splits share the few words but no message: there are about a thousand, and
// each is dealt to one split by its hash (FNV-1a of 64 bits modulo 10: 0 and 1 validation, 2 and 3 test, else train); a task whose message is
// another split's is drawn again. One message may be asked in several worlds of its split, be it allowed there or forbidden. What is new in
// ood is that there are two requests (T6). The full desk has no Vocabulary: its ids, amounts and house numbers are drawn anew in each task,
// and the words that ids are made of are of any number. No message of it occurs twice.
//
// # Cost
//
// The world is deterministic: an episode is a function of the task id and the calls. To make a task takes on the order of 150
// microseconds, a call 1.4 to 5 on a core whose speed varies, candidates included: least where it shows nothing new or is the next one of
// the solution. What [World] returns makes each task once and keeps it, with the calls, replies and refusals about rows as they were at the start, each made when it is
// first needed. A task takes about 44 kB (small: 14) and at most about 130 (20), when every row of it has been read, which is 75 MB for all
// 1,712 and at most 220; a desk of [New] keeps only the one that it plays.
//
// Nothing in a snapshot can be set by a component: all tables are graded, and a session that was made up would let a policy write without
// having looked the customer up.
package tooldesk
