// Package build makes a corpus out of documents and tools: it reads, filters, makes samples, removes duplicates and items of
// benchmarks, mixes by shares of tokens, and writes the files that trainers take, in steps that a stopped run takes up again.
//
// # Stages
//
//  1. ingest: each input is read in parts of Options.ShardRecords documents; what its source rejects is counted.
//  2. filter: the license, the rules of package quality by kind of document, and a classifier if there is one.
//  3. generate and validate: package grounded plans and makes samples of each document, package native makes samples of the
//     tools; all of them have passed a [midtool.Checker]. A unit is a document with its samples, or one native sample.
//  4. dedup: exact and near-duplicates among all units of all inputs, by the text of the document or of the native sample (package dedup);
//     numbers count as equal in texts of the web and of PDF files. Of units with one ID the first stays. What goes takes its samples along.
//  5. decontaminate: units that hold an item of a benchmark (package decontaminate). Tools that a benchmark has are left out before samples
//     are made of them.
//  6. mix: units by shares of a token budget (package mix); Markdown and skills count as web.
//  7. write: each unit goes into one of Options.Shards files of each output, by a hash of its ID, and stands there in the order of another
//     hash; a document comes right before its samples.
//  8. report: report.json, with sorted keys, and report.md hold the same figures.
//
// What a stage leaves out is counted under a reason, and the counts are checked: an input's records are those that are out
// and those that were left out, or the build fails.
//
// # The folder
//
// The files of an output are in a folder of its name, such as plain/00003-of-00016.jsonl. The folder "work" holds the rest: the units of each
// part and an index of them, the selection of each file, and for each of these a manifest, NAME.done.json, with the hashes
// of the configuration, of the input and of the files, and with the counts. Manifests hold no time, host or outside path.
//
// A later run does again what has no manifest, or one whose hashes are others. A file gets its name once it is complete and on disk, so that a
// kill at any point loses the work on the parts and files at hand and nothing else. Whether a part has changed
// is asked of its source if it is a [document.Digester], and else of the whole input; of one that is none it is taken to be
// the same. A rank asks for its own parts alone. What a person writes into manifests is believed.
//
// # Determinism
//
// The same inputs, options and seed give the same bytes of every file, report and manifest, whatever the number of workers, of
// ranks and of runs that it took; ShardRecords changes none of the outputs. That holds as far as the caller's functions and
// sinks keep to it: Options.Names tells one function from another.
//
// # Cost
//
// Time is linear in the input but for what package dedup says of texts that are much alike. In memory are 16 MiB of documents a worker, what is
// made of them, some 200 bytes a unit in the stages that look at all of them, and what package dedup takes. On disk the folder
// needs the size of the documents that pass the filters once for the units and once for each output. A part is read twice if its source is
// a Digester, its units once for each near-duplicate candidate, and twice for outputs and report. Measured on two cores with
// examples/corpus: 8, 80 and 800 MB of web text take 0.6, 7 and 51 seconds and 27, 53 and 216 MB at their peak; 1 GB of web text, source
// code, skills and 3,404 tools, against two benchmarks, 75 seconds and 340 MB.
//
// # Source
//
// The stages are those of MidTool (arXiv:2608.20314), as far as it is known; shards and resumption follow datatrove's workers of
// rank and world size in purpose. How they are done here is ours.
package build
