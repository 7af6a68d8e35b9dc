// Package memory keeps skills: it adds and merges them, finds those that fit a task, remembers what was replaced, and survives a crash
// at any point.
//
// # What it does
//
//   - [New] makes a memory in the process, [Open] one in a directory. A memory holds text or code skills, not both.
//   - [Memory.Add] adds a skill by the rules of arXiv:2608.20274. A text skill whose description has a similarity above 0.85 to a stored
//     one is merged into it. A code skill replaces the function of its name, and is dropped if its description is that similar to another.
//   - [Memory.Retrieve] finds the 5 most similar skills of those above 0.30, as in the paper, and for code the functions that they call.
//   - [Memory.Put], [Memory.Supersede], [Memory.Remove] and [Memory.Restore] change one skill under its name and version. No version is
//     lost: [Memory.History] has all until [Memory.Purge].
//   - [Memory.RecordUse] notes what was used and what came of it, once for each skill, version and episode; [Memory.Prune] removes what
//     failed, after Memp (arXiv:2508.06433).
//   - [Memory.All] ranges over the skills that may be shown, [Memory.Quarantined] over the others.
//
// Similarity is the cosine of the vectors of an embedder, by default [skill.HashEmbedder], which compares words. The thresholds are those
// that the paper uses with a semantic embedder.
//
// # Code
//
// A code skill is one function, in the first fenced block of the body, which must define it; its record, written by
// [skill.Document.SetRecord], names it. What it calls is read from its source: names followed by "(", outside comments and string
// literals, that name another stored function. Calls on objects and of functions defined in the source itself do not count. JavaScript
// and TypeScript are known by the language of the block, all else is read as Python. Removing a function removes all that call it,
// directly or not, so that no stored function calls a removed one, and [Memory.Restore] brings callees back first. A skill that is put or
// added may call functions that are not stored: the environment may have them. The package runs no code: [Memory.Check] takes the loader
// of the caller.
//
// # Safety
//
// A skill whose texts have a finding of severity scan.High is refused, by an error that is also skill.ErrUnsafe, and if it gets into the
// directory by hand it is quarantined: neither retrieved nor in [Memory.All], so that all of those may go into a prompt. A scan is a
// filter and no proof; see package scan.
//
// # Files
//
// In a directory, skills/NAME/SKILL.md is the truth about what is current; every version lies in history, every use in usage.jsonl.
// Nothing else is kept: vectors and the graph of calls are made anew by Open. Files may be edited by hand. One process writes at a time.
// The memory writes the keys of [skill.Record] into the metadata, and throughline-time, when the version was made.
//
// # Cost and determinism
//
// For n skills a query or an Add takes one call of the embedder, O(n) steps, and the products of the vectors that share an entry; the
// index takes 16 bytes for an entry of a vector that is not 0. With 100,000 short skills in the process and [skill.HashEmbedder], a query
// took 2 to 10 ms, a Put 0.6 ms, an Add 1.5 to 3 ms, and the whole 0.4 to 1 GB, history included, on one core of a server. A write to a
// directory waits for the disk unless NoSync, 9 to 18 ms on the disk of that server. Equal calls in an equal order give equal
// memories but for the times of versions; nothing depends on the order of maps.
package memory
