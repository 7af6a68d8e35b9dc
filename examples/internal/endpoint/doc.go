// Package endpoint gives the example programs their flags for a model behind an OpenAI-compatible endpoint, and the model itself as a
// policy of the reference worlds.
//
// Nothing is printed of a key: it comes from an environment variable that -key-env names, as process lists show flags.
package endpoint
