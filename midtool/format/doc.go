// Package format writes records of a corpus, documents and conversations, in the forms that trainers take, says what is
// learned of each, and reads them back.
//
// # Forms
//
// A form writes one JSON object a line; text is raw UTF-8 and nothing is escaped that JSON does not demand.
//
//   - plain: {"id", "text", "source", "ability", "tokens", "license", "meta"}, text without control tokens for
//     pre-training and mid-training, the main form; see [Plain] and [Row].
//   - openai: {"messages", "tools"} of the chat API, arguments as a JSON string, "weight": 0 in what is not learned.
//   - trl: the same with "id" and arguments as objects, for TRL.
//   - axolotl: arguments and parameters as JSON strings, "train" in every message, for Axolotl with
//     message_field_training: train.
//   - llamafactory: arguments as objects, tools as one JSON string, "tool_calls" in every message, for the openai
//     formatting of LLaMA-Factory.
//   - sharegpt: {"id", "conversations": [{"from", "value"}], "system", "tools"} with human, gpt, function_call and
//     observation, for the sharegpt formatting of LLaMA-Factory. The calls of a turn are one JSON list; one result stands
//     as it is, several are a list, in which JSON stands as JSON and any other text as a string.
//   - hermes: a row as plain with "loss", a list of [start, end), behind the text: turns <|im_start|>role ... <|im_end|>,
//     tools between <tools> and </tools>, calls between <tool_call> and </tool_call>, the results of a turn in one turn
//     of the role tool.
//   - qwen: as hermes, the results in a turn of the user, and empty thinking blocks if asked for.
//   - pretokenized: {"input_ids", "attention_mask", "labels"} of plain, hermes or qwen text, cut by a [Tokenizer]; see
//     [TokenRow].
//
// The text forms and pretokenized take documents as they are, learned as a whole; the forms of conversations skip them.
// Many trainers load JSON into columns of one type (Arrow). There the objects of different tools become one object with
// nulls for the keys that a call does not have, and loading fails where two tools give one name to values of different
// types. Load the arguments of trl and llamafactory, and the schemas of trl and openai, as JSON and not as
// columns, or take axolotl or sharegpt, in which they are strings. The other forms have no such objects.
//
// # What is learned
//
// In plain text everything but the turns that are Untrained, mistakes that are shown on purpose. In hermes and qwen what
// an assistant writes, from after its header to the end of <|im_end|>, unless it is Untrained. A token is learned if all
// its bytes are. A form that cannot say that one turn is not learned skips the conversation. LLaMA-Factory's openai
// formatting passes over what an assistant says beside its calls.
//
// # What is skipped
//
// A record that a form has no place for is skipped with the reason that [SkipError] lists and counted, never changed
// to fit: a control marker in a content blocks hermes and qwen alone, a conversation whose turns do not alternate those
// of LLaMA-Factory, which would drop it with no more than a warning. A [Writer] that was given records and wrote none fails in Close.
//
// # Source
//
// One text field in chat form without control tokens is what the public card of MidTool's data (arXiv:2608.20314) shows; the
// headers and the rows are ours, since the paper does not disclose its serialization. The other forms follow the
// documentation of their trainers and models; sentences around the tools are ours unless given. The tests check that
// each form reads back the same conversation on arbitrary Unicode. Not claimed are the bytes of a model's own template, nor that
// a given version of a trainer was run.
//
// # Cost and determinism
//
// Writing and reading are linear in the size of a record and hold one at a time. Equal records and options give equal
// bytes. Reading bounds lines (64 MiB) and nesting (72 levels).
package format
