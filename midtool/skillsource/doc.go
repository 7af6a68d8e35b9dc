// Package skillsource reads folders of skills (package skill) as documents and tools of a corpus (package midtool).
//
// A skill is a folder with a file SKILL.md. Its text, with the name and the description before it, is a document of kind skill, and
// it can serve as a tool without parameters that loads it. What package skill quarantines, since its text tries to steer an agent, is
// neither.
//
// Skills are a source of MidTool (arXiv:2608.20314); the form of text and tool is ours.
//
// # Cost and determinism
//
// All skills of a folder are held at a time: [skill.LoadFS] reads them to find those of one name. Equal folders and options give equal
// results, in the order of the bytes of paths for documents and of names for tools.
package skillsource
