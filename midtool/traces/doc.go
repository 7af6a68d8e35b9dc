// Package traces filters conversations that agents had into samples: they pass the same checks as made ones.
//
// # Steps
//
//  1. [midtool.ReadMessages], or any other iterator, yields the conversations; [Import] takes them one by one.
//  2. Each gets an ID; its tools are normalized, given exportable names and checked for their license, as the conversation is.
//  3. Calls and results get IDs that belong together, and a conversation that says the same as a kept one is left out.
//  4. The first family whose proof holds is the sample's, and mistakes that the tools answered by errors are marked
//     Untrained: shown and not learned.
//  5. A [midtool.Checker] looks at all of it: turn order, schemas, leaks, the window, the evidence of each argument. What fails is
//     rejected with a reason and a place.
//
// # What traces fail on
//
// Conversations of real agents were not made to be checked. Three rules reject most of them, and can be left out by
// [Options] Skip where that is wanted:
//
//   - leak: the user names the tool, or writes two words or no full stop at the end. Without this rule a model may learn to
//     wait for the tool's name.
//   - ungrounded: an argument is in no message, result or schema, for the agent knew it (a ticker, a country code, today's
//     date) or made it up. Without this rule a model may learn to make arguments up.
//   - turn_order: the conversation ends with a call or its result, for it was cut. That one is better not left out: the last
//     call has no answer then.
//
// What is checked is the form: results are taken as recorded, no call is executed, and nobody asks whether what the
// assistant says is true.
//
// # Source
//
// MidTool (arXiv:2608.20314) is not known to import conversations; to do so, and how, is ours.
//
// # Cost
//
// Time grows linearly with the input. Memory holds the samples, if they are collected; else some 100 bytes and the ID for each
// conversation, what is rejected, and up to 16,384 normalized tools.
//
// # Determinism
//
// There is no random choice, and conversations are taken in their order: the same conversations and options give the same
// samples and rejections. Which of two that say the same is kept, and which IDs are made, depends on the order.
//
// # Example
//
// The example of [Import] takes two conversations from a file of chat messages, keeps one and says why not the other.
package traces
