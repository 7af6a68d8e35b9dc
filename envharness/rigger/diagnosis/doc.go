// Package diagnosis finds what a policy does wrong, from the traces of its episodes: twenty flaws, each a rule that points at the turns
// where it holds.
//
// Rules look at what the policy proposed and at what it was shown; what happened behind components is not its fault. With x for the share
// of episodes that show a flaw, its support is x over all judged episodes, and its lift is x over the failed ones less x over the passed
// ones.
//
// # Rules
//
// A call is an action of the policy; two are the same if name and arguments are, as JSON. A refusal is one that passes if it is retryable
// or of class rate_limit, timeout or transient, else one for good. A write, a read and a submit are calls of tools as in [Context].
//
//	F01 loop                  >= 3 times the same call with the same shown; or a circle of 2 to 4 calls gone round 3 times that no solution has
//	F02 premature stop        Fail, ended by the policy in <= half of the limit, with fewer writes (calls) tried than the plan has
//	F03 ignored error         Fail, and none of the 3 calls after a refusal is a read or one of the same tool
//	F04 no retry              a refusal that passes, and the tool is not called again
//	F05 blind retry           >= 2 times a call refused for good again, with nothing but reads carried out since
//	F06 unread pages          Fail, has_more shown, and not read on
//	F07 over-long             Pass, turns > 1.5 times those of the plan, or else of the median of the passed episodes
//	F08 budget exhausted      ended by a limit
//	F09 wrong argument        >= 2 refusals bad_args or not_found; or Fail with a write of the plan with other arguments
//	F10 missing precondition  >= 2 refusals precondition
//	F11 unverified write      the last write, then a submit, and no read in between
//	F12 ungrounded value      an argument that nothing has shown before
//	F13 stale belief          an argument that was shown once, where the same call has shown another value since
//	F14 single-source trust   Fail, and a write of a value read once, with a read that could have told it never made
//	F15 unreadable actions    > 0.1 of the turns: no action, or a tool that is not offered
//	F16 distracted            >= 2 calls of tools that neither the plan nor a passed episode has
//	F17 little exploration    Fail, and the different things shown are <= 0.3 of the turns
//	F18 order violation       a call that fits After of an edge before one that fits Before was carried out
//	F19 repeated write        the same write carried out twice, and more often than in the plan
//	F20 hammering             refused with rate_limit, and the tool called again within retry_after
//
// So that a policy without a flaw shows none, some is left out. Turns that were refused, but not for good, and other calls while a limit on
// the rate runs count neither as repetition nor as length (F01, F07, F17). F09 and F10 count a call that is refused again at once only once.
// Whole numbers from 0 to 9, what is submitted, and free text need not have been shown (F12), and free text is not compared (F09). Calls
// without arguments are steps that may well be made twice (F19). Where a solution is known F01, F02, F06, F09, F12, F14, F16 and F19 ask
// what it does. The plan is that of the base: one with tools or arguments that are not offered, as behind a component that renames them, is
// compared with nothing.
//
// A plan that writes and submits without a look shows F11, as its oracle knows what a policy can only see.
//
// # Worlds that are told in words
//
// Where no tool is ReadOnly, a call whose arguments are one string, such as do{"text":"take mug 1 from desk 1"}, is a spoken one, since the
// tool alone says little. Its tool is the name with the first word, "do take", in F03. F04 and F20 go by the whole call, F15 and F16 by
// the name. In F12 all words must have been shown, and a word with a number after it is one name, "mug 1". Without a description of tools
// that is done where the traces call one tool only.
//
// # Source
//
// EnvHarness (arXiv:2608.19880) lets a model diagnose in words; the taxonomy, its rules and their ranking are ours. They see what
// a rule can see: no flaw found does not mean that there is none, and a flaw that is found need not be why an episode failed.
package diagnosis
