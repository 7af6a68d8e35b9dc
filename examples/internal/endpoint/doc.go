// Package endpoint gives the example programs their flags for a model behind an OpenAI-compatible endpoint, and the model itself as a
// policy of the reference worlds.
//
// A program asks Reach before its work, so that a wrong address, key or name of a model ends it at once, and tells by Account, where it fails
// later, what was done and used until then.
//
// Nothing is printed of a key: it comes from an environment variable that -key-env names, as process lists show flags.
package endpoint
