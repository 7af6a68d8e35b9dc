// Package simulate answers calls of tools that cannot or must not be run: from their schemas ([Schema]), and from a small
// world of records that can be created, read, updated and deleted ([World]). Both are a [midtool.Executor], need no
// model and no network, and give the same answers to the same calls. What is simulated follows the schemas of the tools
// and nothing else: it says nothing about what a real tool would have answered. All rules are ours.
package simulate
